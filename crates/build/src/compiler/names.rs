//! What a compiler's file name says about it.

use super::plan::Family;

/// The language that a compiler is called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C: `deadheat cc`.
    C,
    /// C++: `deadheat c++`.
    Cxx,
}

/// A compiler's name in its parts: `x86_64-linux-gnu-`, `gcc`, `-12`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompilerName<'a> {
    prefix: &'a str,
    base: &'a str,
    suffix: &'a str,
}

const C_NAMES: [&str; 5] = ["clang", "gcc", "c99", "c89", "cc"];
const CXX_NAMES: [&str; 3] = ["clang++", "g++", "c++"];

impl<'a> CompilerName<'a> {
    /// The parts of `name`, if it is a compiler's.
    pub fn parse(name: &'a str) -> Option<Self> {
        let (stem, suffix) = match name.rsplit_once('-') {
            Some((stem, version)) if is_version(version) => (stem, &name[stem.len()..]),
            _ => (name, ""),
        };
        let base = CXX_NAMES.into_iter().chain(C_NAMES).find(|base| {
            stem.strip_suffix(base)
                .is_some_and(|prefix| prefix.is_empty() || prefix.ends_with('-'))
        })?;
        let (prefix, base) = stem.split_at(stem.len() - base.len());
        Some(CompilerName {
            prefix,
            base,
            suffix,
        })
    }

    /// Who made it; `None` for names such as `cc` that do not say.
    pub fn family(&self) -> Option<Family> {
        match self.base {
            "gcc" | "g++" => Some(Family::Gcc),
            "clang" | "clang++" => Some(Family::Clang),
            _ => None,
        }
    }

    /// The language it is for.
    pub fn language(&self) -> Language {
        if CXX_NAMES.contains(&self.base) {
            Language::Cxx
        } else {
            Language::C
        }
    }

    /// Whether it is the system's compiler, whichever that is.
    pub fn is_generic(&self) -> bool {
        self.prefix.is_empty() && self.suffix.is_empty() && self.family().is_none()
    }

    /// The same compiler for this language: `clang-19` becomes `clang++-19`.
    pub fn for_language(&self, language: Language) -> String {
        let base = match (language, self.base) {
            (Language::Cxx, "gcc") => "g++",
            (Language::Cxx, "clang") => "clang++",
            (Language::Cxx, "cc" | "c99" | "c89") => "c++",
            (Language::C, "g++") => "gcc",
            (Language::C, "clang++") => "clang",
            (Language::C, "c++") => "cc",
            (_, base) => base,
        };
        format!("{}{base}{}", self.prefix, self.suffix)
    }
}

/// `12`, `4.9`, `19.1.7`.
fn is_version(text: &str) -> bool {
    !text.is_empty()
        && text
            .split('.')
            .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_apart() {
        let name = CompilerName::parse("x86_64-linux-gnu-gcc-12").unwrap();
        assert_eq!(name.prefix, "x86_64-linux-gnu-");
        assert_eq!((name.base, name.suffix), ("gcc", "-12"));
        assert_eq!(name.family(), Some(Family::Gcc));
        assert_eq!(name.for_language(Language::Cxx), "x86_64-linux-gnu-g++-12");

        let name = CompilerName::parse("clang++").unwrap();
        assert_eq!(name.family(), Some(Family::Clang));
        assert_eq!(name.language(), Language::Cxx);
        assert_eq!(name.for_language(Language::C), "clang");
        assert!(CompilerName::parse("cc").unwrap().is_generic());
    }

    #[test]
    fn other_names_are_none() {
        for name in [
            "gcc-ar",
            "clang-format-19",
            "main.c",
            "ccache",
            "make",
            "clang-cpp-19",
            "",
        ] {
            assert_eq!(CompilerName::parse(name), None, "{name}");
        }
    }
}
