//! JUnit's XML: well-formed whatever programs are called, one failed test per finding.

use anstream::adapter::strip_str;
use deadheat_report::{Finding, json, junit, text};
use proptest::prelude::*;

fn bank() -> Vec<Finding> {
    json::findings(include_str!("bank/report.json")).unwrap()
}

#[test]
fn each_finding_is_a_failed_test() {
    let all = bank();
    let xml = junit::report(&all);
    let document = roxmltree::Document::parse(&xml).unwrap();
    let suite = document.root_element().first_element_child().unwrap();
    assert_eq!(suite.attribute("tests"), Some("4"));
    assert_eq!(suite.attribute("failures"), Some("4"));
    let cases: Vec<_> = suite.children().filter(|node| node.is_element()).collect();
    assert_eq!(cases.len(), all.len());
    let look = text::Look {
        stacks: true,
        ..text::Look::default()
    };
    for (case, finding) in cases.iter().zip(&all) {
        let failure = case.first_element_child().unwrap();
        let told = strip_str(&text::finding(finding, &look)).to_string();
        assert_eq!(failure.text(), Some(&*told), "the text for people");
        let message = format!("{}: {}", finding.rung.name(), finding.signature);
        assert_eq!(failure.attribute("message"), Some(&*message));
        assert_eq!(failure.attribute("type"), Some(finding.kind.name()));
        assert!(
            case.attribute("name")
                .unwrap()
                .ends_with(&format!("[{}]", finding.id))
        );
    }
    assert_eq!(cases[0].attribute("file"), Some("bank.c"));
    assert_eq!(cases[0].attribute("line"), Some("28"));
    assert_eq!(
        cases[0].attribute("name"),
        Some("race on accounts[1].balance [5c21d0a7]")
    );
}

proptest! {
    #[test]
    fn any_name_is_well_formed(name in any::<String>(), told in "(?s).{0,20}") {
        let mut finding = bank().remove(0);
        finding.object.as_mut().unwrap().name = name.clone();
        finding.signature = told;
        finding.accesses[0].place.file = Some(name);
        let xml = junit::report(&[finding]);
        let document = roxmltree::Document::parse(&xml);
        prop_assert!(document.is_ok(), "{:?}: {}", document.err(), xml);
    }
}

#[test]
fn forbidden_characters_are_replaced() {
    let mut finding = bank().remove(0);
    finding.signature = "a\u{0}\u{1b}\u{b}\u{ffff}<&\"'>\n\tb".to_owned();
    let xml = junit::report(&[finding]);
    let document = roxmltree::Document::parse(&xml).unwrap();
    let failure = document
        .descendants()
        .find(|node| node.has_tag_name("failure"));
    let message = failure.unwrap().attribute("message").unwrap().to_owned();
    assert_eq!(
        message,
        "confirmed: a\u{fffd}\u{fffd}\u{fffd}\u{fffd}<&\"'>\n\tb"
    );
}
