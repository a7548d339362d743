//! Points in time, as they are written down and as they are shown.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// `2026-11-15T10:23:45Z`.
pub fn written(time: SystemTime) -> String {
    let seconds = time
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs();
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The inverse of [`written`].
pub fn read(text: &str) -> Option<SystemTime> {
    let field = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
    let (year, month, day) = (field(0, 4)?, field(5, 7)?, field(8, 10)?);
    let seconds = field(11, 13)? * 3600 + field(14, 16)? * 60 + field(17, 19)?;
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    Some(UNIX_EPOCH + Duration::from_secs(days(year, month, day) * 86_400 + seconds))
}

/// How long ago, in words: `just now`, `5 min ago`, `3 days ago`.
pub fn ago(then: SystemTime, now: SystemTime) -> String {
    let seconds = now.duration_since(then).unwrap_or_default().as_secs();
    let counted = |count: u64, unit: &str| match count {
        1 => format!("1 {unit} ago"),
        _ => format!("{count} {unit}s ago"),
    };
    match seconds {
        0..60 => "just now".into(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86_400 => counted(seconds / 3600, "hour"),
        _ => counted(seconds / 86_400, "day"),
    }
}

/// Year, month and day of a day number since 1970, after Howard Hinnant's `civil_from_days`.
fn date(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468; // days since 0000-03-01
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

/// The inverse of [`date`], after `days_from_civil`.
fn days(year: u64, month: u64, day: u64) -> u64 {
    let year = year - u64::from(month <= 2);
    let (era, year_of_era) = (year / 400, year % 400);
    let shifted_month = (month + 9) % 12;
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let at = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
        assert_eq!(written(at(0)), "1970-01-01T00:00:00Z");
        assert_eq!(written(at(951_782_400)), "2000-02-29T00:00:00Z");
        assert_eq!(written(at(1_794_738_225)), "2026-11-15T10:23:45Z");
        for seconds in (0..4_000_000_000).step_by(86_399 * 7) {
            assert_eq!(read(&written(at(seconds))), Some(at(seconds)));
        }
        assert_eq!(read("yesterday"), None);
        assert_eq!(read("2026-13-01T00:00:00Z"), None);
    }

    #[test]
    fn distances_are_told_in_words() {
        let told = |seconds| ago(UNIX_EPOCH, UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(told(3), "just now");
        assert_eq!(told(300), "5 min ago");
        assert_eq!(told(3700), "1 hour ago");
        assert_eq!(told(200_000), "2 days ago");
        assert_eq!(
            ago(UNIX_EPOCH + Duration::from_secs(9), UNIX_EPOCH),
            "just now"
        );
    }
}
