//! A real browser without a window: Chromium, spoken to in its DevTools protocol through a pair of pipes.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// As root there is no sandbox to be had; the rest keeps it from doing anything by itself.
const FLAGS: &str = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
     --disable-background-networking --disable-component-update --disable-sync --disable-dev-shm-usage";

/// A page that is open.
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    session: Option<String>,
    sent: u64,
    events: Vec<Value>,
    page: String,
    _profile: TempDir,
}

impl Browser {
    /// Opens a file, in a window of this size.
    pub fn open(page: &Path, width: u32, height: u32) -> Self {
        let profile = tempfile::tempdir().unwrap();
        // The protocol is read from descriptor 3 and written to 4.
        let script = format!(
            "exec chromium {FLAGS} --user-data-dir=\"$0\" --remote-debugging-pipe about:blank \
             3<&0 4>&1 </dev/null >/dev/null 2>&1"
        );
        let mut child = Command::new("bash")
            .args(["-c", &script])
            .arg(profile.path())
            .env("TMPDIR", profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let to = child.stdin.take().unwrap();
        let mut from = BufReader::new(child.stdout.take().unwrap());
        let (tell, told) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while from.read_until(0, &mut message).is_ok_and(|read| read > 1) {
                message.pop();
                let message = std::mem::take(&mut message);
                let _ = tell.send(serde_json::from_slice(&message).unwrap());
            }
        });
        let mut browser = Browser {
            child,
            to,
            from: told,
            session: None,
            sent: 0,
            events: Vec::new(),
            page: format!("file://{}", page.canonicalize().unwrap().display()),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = browser.call("Target.attachToTarget", attach);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser.resize(width, height);
        browser.call("Page.navigate", json!({ "url": browser.page }));
        browser.wait_for("Page.loadEventFired");
        browser
    }

    /// The next message.
    fn message(&mut self) -> Value {
        self.from
            .recv_timeout(Duration::from_secs(60))
            .expect("Chromium answers (scripts/install-debian-packages test installs it)")
    }

    /// Calls a method of the protocol.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.sent += 1;
        let mut message = json!({ "id": self.sent, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        write!(self.to, "{message}\0").unwrap();
        loop {
            let answer = self.message();
            if answer["id"] == json!(self.sent) {
                assert_eq!(answer["error"], Value::Null, "{method}");
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    fn wait_for(&mut self, method: &str) {
        while !self.events.iter().any(|event| event["method"] == method) {
            let event = self.message();
            self.events.push(event);
        }
    }

    /// The value of an expression in the page.
    pub fn js(&mut self, expression: &str) -> Value {
        let parameters = json!({
            "expression": expression, "returnByValue": true, "awaitPromise": true, "userGesture": true,
        });
        let answer = self.call("Runtime.evaluate", parameters);
        assert_eq!(answer["exceptionDetails"], Value::Null, "{expression}");
        answer["result"]["value"].clone()
    }

    /// The same as text.
    pub fn text(&mut self, expression: &str) -> String {
        let value = self.js(expression);
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    }

    /// Presses a key.
    pub fn press(&mut self, key: &str) {
        let text = if key.chars().count() == 1 { key } else { "" };
        // The browser itself acts on Escape, and knows it by its number.
        let code = if key == "Escape" { 27 } else { 0 };
        for kind in ["keyDown", "keyUp"] {
            let mut press = json!({ "type": kind, "key": key, "windowsVirtualKeyCode": code });
            if kind == "keyDown" {
                press["text"] = json!(text);
            }
            self.call("Input.dispatchKeyEvent", press);
        }
    }

    /// Changes the size of the window.
    pub fn resize(&mut self, width: u32, height: u32) {
        let size = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 700,
        });
        self.call("Emulation.setDeviceMetricsOverride", size);
        // The page is told before it is drawn the next time.
        self.js("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    }

    /// Says that the system is set to light or dark.
    pub fn scheme(&mut self, name: &str) {
        let scheme = json!({ "name": "prefers-color-scheme", "value": name });
        self.call(
            "Emulation.setEmulatedMedia",
            json!({ "features": [scheme] }),
        );
    }

    /// Everything that a good page does not have: errors, messages, loads of anything but itself.
    pub fn problems(&mut self) -> Vec<String> {
        self.js("0"); // what was said before has arrived then
        let page = self.page.clone();
        let problem = |event: &Value| {
            let parameters = &event["params"];
            match event["method"].as_str()? {
                "Runtime.exceptionThrown" | "Runtime.consoleAPICalled" | "Log.entryAdded" => {
                    Some(parameters.to_string())
                }
                "Network.requestWillBeSent" => {
                    let url = parameters["request"]["url"].as_str()?;
                    (!url.starts_with(&page)).then(|| format!("loads {url}"))
                }
                _ => None,
            }
        };
        self.events.iter().filter_map(problem).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It takes its helpers along if it is asked; it says nothing more then.
        let _ = write!(
            self.to,
            "{}\0",
            json!({ "id": 0, "method": "Browser.close" })
        );
        while self.from.recv_timeout(Duration::from_secs(10)).is_ok() {}
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
