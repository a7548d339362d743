//! The page of a report, in a browser, and what is asked about it.

use std::path::PathBuf;

use serde_json::json;

use super::Sandbox;
use super::browser::Browser;

/// A report with all kinds of findings.
pub const REPORT: &str = include_str!("../../../report/tests/bank/report.json");
/// The program that it is about.
pub const SOURCE: &str = include_str!("../../../report/tests/bank/bank.c");

/// The page of a report, with the bank's source text beside it.
pub fn page(here: &Sandbox, report: &str, source: &str) -> PathBuf {
    here.file("bank.c", source);
    here.file("report.json", report);
    let made = ["report", "report.json", "--warnings", "--html", "page.html"];
    assert_eq!(
        here.deadheat(made).output().unwrap().status.code(),
        Some(66)
    );
    here.path().join("page.html")
}

/// The page of the bank's report, open.
pub fn bank(here: &Sandbox) -> Browser {
    Browser::open(&page(here, REPORT, SOURCE), 1300, 900)
}

/// The text of the first element that a selector finds.
pub fn told(browser: &mut Browser, selector: &str) -> String {
    browser.text(&format!(
        "document.querySelector({}).textContent",
        json!(selector)
    ))
}

/// Clicks the first element that a selector finds.
pub fn click(browser: &mut Browser, selector: &str) {
    let event = "dispatchEvent(new MouseEvent('click', {bubbles: true}))";
    browser.js(&format!(
        "document.querySelector({}).{event}",
        json!(selector)
    ));
}

/// What sticks out of the page sideways, if anything does.
pub const OVERFLOW: &str = "
(() => {
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= wide) return [];
  const all = [...document.body.querySelectorAll('*')];
  const clipped = (node) => node.parentElement
    && (getComputedStyle(node.parentElement).overflowX !== 'visible' || clipped(node.parentElement));
  const out = all.filter((node) => node.getBoundingClientRect().right > wide && !clipped(node));
  const names = out.map((node) => `${node.tagName}.${node.getAttribute('class')}`).slice(0, 5);
  return [document.documentElement.scrollWidth, ...names];
})()";

/// Text whose colour is too near to that behind it (WCAG AA: 4.5 to 1), with the figure.
pub const POOR_CONTRAST: &str = r"
(() => {
  const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
  const light = (rgb) => rgb.slice(0, 3).map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const rgb = numbers(getComputedStyle(at).backgroundColor);
      if (rgb.length === 3 || rgb[3] > 0) return rgb;
    }
    return [255, 255, 255];
  };
  const poor = [];
  for (const node of document.body.querySelectorAll('*')) {
    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
    if (!own || node.closest('script, noscript, style, title, dialog, :disabled, .later')) continue;
    const style = getComputedStyle(node);
    const ink = light(numbers(node instanceof SVGElement ? style.fill : style.color));
    const paper = light(behind(node));
    const ratio = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    if (ratio < 4.5) poor.push(`${node.tagName}.${node.getAttribute('class')} ${ratio.toFixed(2)}: ${node.textContent.slice(0, 30)}`);
  }
  return poor;
})()";
