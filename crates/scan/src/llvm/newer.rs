//! Text of a newer LLVM, made readable for this one.
//!
//! Bitcode of a newer LLVM cannot be read, but its text says nearly the same: what is new is mostly what optimisations may rely on,
//! and that can be left out. So programs of Rust compilers, which are ahead of the LLVM of distributions, come in as text.

/// Attributes with an argument in parentheses that LLVM 19 does not know.
const ATTRIBUTES: [&str; 2] = [" captures(", " initializes("];

/// Words that LLVM 19 does not know, and that can be left out.
const WORDS: [&str; 3] = [" dead_on_return", " samesign", " nocreateundeforpoison"];

/// Fields of the debug information that LLVM 19 does not know.
const FIELDS: [&str; 4] = [
    ", atomGroup: ",
    ", atomRank: ",
    ", keyInstructions: ",
    ", dataSize: ",
];

/// The same program without what LLVM 19 does not know.
pub(super) fn readable(text: &str) -> String {
    let mut readable = String::with_capacity(text.len());
    for line in text.lines() {
        // They take other arguments now, and tell nothing that is asked.
        if line.contains("@llvm.lifetime.") {
            continue;
        }
        match line.split_once(" = {") {
            Some((group, _)) if group.starts_with("attributes #") => {
                readable.push_str(group);
                // A group may not be empty.
                readable.push_str(" = { \"newer\" }");
            }
            _ => readable.push_str(&changed(line)),
        }
        readable.push('\n');
    }
    readable
}

fn changed(line: &str) -> String {
    let mut line = line.replace(" ptrtoaddr ", " ptrtoint ");
    for word in WORDS {
        line = line.replace(word, "");
    }
    for attribute in ATTRIBUTES {
        while let Some(start) = line.find(attribute) {
            let Some(end) = closing(&line, start + attribute.len()) else {
                break;
            };
            line.replace_range(start..end, "");
        }
    }
    for field in FIELDS {
        while let Some(start) = line.find(field) {
            let after = start + field.len();
            let end = line[after..].find([',', ')']);
            let Some(end) = end.map(|length| after + length) else {
                break;
            };
            line.replace_range(start..end, "");
        }
    }
    line
}

/// Behind the parenthesis that closes the one before `start`.
fn closing(line: &str, start: usize) -> Option<usize> {
    let mut depth = 1_u32;
    for (index, byte) in line.bytes().enumerate().skip(start) {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(index + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::readable;

    fn becomes(newer: &str, older: &str) {
        assert_eq!(readable(newer), format!("{older}\n"));
    }

    #[test]
    fn attributes_are_left_out() {
        becomes(
            "declare void @f(ptr captures(address, read_provenance) %a, ptr initializes((0, 8), (16, 24)) %b)",
            "declare void @f(ptr %a, ptr %b)",
        );
        becomes(
            "%1 = icmp samesign ult i32 %a, %b",
            "%1 = icmp ult i32 %a, %b",
        );
        becomes(
            "attributes #3 = { nounwind memory(none) }",
            "attributes #3 = { \"newer\" }",
        );
    }

    #[test]
    fn fields_of_debug_information_are_left_out() {
        becomes(
            "!7 = !DILocation(line: 3, column: 1, scope: !5, atomGroup: 1, atomRank: 2)",
            "!7 = !DILocation(line: 3, column: 1, scope: !5)",
        );
    }

    #[test]
    fn lifetimes_are_left_out() {
        assert_eq!(readable("  call void @llvm.lifetime.start.p0(ptr %a)"), "");
    }

    #[test]
    fn other_text_stays() {
        becomes(
            "  store i32 1, ptr %a, align 4",
            "  store i32 1, ptr %a, align 4",
        );
    }
}
