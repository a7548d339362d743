//! Programs that are correct by construction, with unusual synchronisation: nothing is found in them, they
//! end, and print what they
//! print without Deadheat. A share of what `correct` tries: see `deadheat_fuzz::correct`.

use std::path::Path;

use deadheat_fuzz::correct::command::Correct;

fn correct(language: &str) -> Correct {
    Correct {
        language: language.to_owned(),
        quick: true,
        way: vec!["check".to_owned()],
        ..Correct::with(Path::new(env!("CARGO_BIN_EXE_deadheat")))
    }
}

/// Fails with every disagreement.
fn agrees(correct: &Correct) {
    let outcome = correct.measure().expect("programs are built and run");
    let wrong: Vec<String> = outcome
        .wrong
        .iter()
        .map(|(program, way, wrong)| {
            let (title, way) = (program.title(), way.name());
            format!("{way}: {title}: {}\n{}", wrong.what, wrong.output)
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_piece_by_itself() {
    agrees(&Correct {
        alone: true,
        ..correct("c")
    });
}

#[test]
fn combinations() {
    for language in ["c", "cpp"] {
        agrees(&Correct {
            count: 6,
            ..correct(language)
        });
    }
}
