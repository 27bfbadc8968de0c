//! Reads the times of a measured load: seconds, times of day, and calendar dates (ISO 8601).

const DAY: f64 = 86_400.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum LoadTime {
    /// Time of day, or hours since the start of the measurement \[s\].
    Clock(f64),
    /// Calendar date, as seconds since 1970; without a time zone, in the zone of the file.
    Calendar(f64),
}

impl LoadTime {
    /// Reads a time of day such as `12:00:05`, or a date such as `2026-11-28T12:00:05Z` or `2026-11-28 12:00:05.5 UTC`; returns
    /// `None` for any other text.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let Some((date, rest)) = text.split_at_checked(10).filter(|_| text.is_ascii()) else {
            return parse_clock(text).map(Self::Clock);
        };
        let Some(days) = parse_day(date) else {
            return parse_clock(text).map(Self::Clock);
        };
        let clock = rest.strip_prefix(['T', ' ']).unwrap_or(rest).trim();
        let (clock, offset) = split_zone(clock)?;
        let seconds = if clock.is_empty() {
            0.0
        } else {
            parse_clock(clock).filter(|seconds| *seconds < DAY)?
        };
        Some(Self::Calendar(days as f64 * DAY + seconds - offset))
    }

    /// Returns the time in seconds. A time of day that is far before the time `previous` of the line before belongs to the next
    /// day.
    pub(super) fn seconds_after(self, previous: Option<f64>) -> f64 {
        match (self, previous) {
            (Self::Clock(time), Some(previous)) if time < DAY => {
                let same_day = time + (previous / DAY).floor() * DAY;
                let is_next_day = same_day + DAY / 2.0 < previous;
                same_day + if is_next_day { DAY } else { 0.0 }
            }
            (Self::Clock(time) | Self::Calendar(time), _) => time,
        }
    }
}

/// Splits a time zone from the end of a time of day: returns the time of day, and the offset of the zone from UTC \[s\].
fn split_zone(text: &str) -> Option<(&str, f64)> {
    for zone in ["Z", "UTC"] {
        if let Some(clock) = text.strip_suffix(zone) {
            return Some((clock.trim_end(), 0.0));
        }
    }
    let Some(at) = text.find(['+', '-']) else {
        return Some((text, 0.0));
    };
    let digits = text[at + 1..].replace(':', "");
    let zone: u32 = digits.parse().ok().filter(|_| digits.len() == 4)?;
    let offset = f64::from(zone / 100 * 3600 + zone % 100 * 60);
    let sign = if &text[at..=at] == "-" { -1.0 } else { 1.0 };
    Some((text[..at].trim_end(), sign * offset))
}

/// Converts a date such as `2026-11-28` to days since 1970; `None` if the text is no such date.
fn parse_day(text: &str) -> Option<i64> {
    let parts: Vec<&str> = text.split(['-', '/']).collect();
    let [year, month, day] = parts[..] else {
        return None;
    };
    let number = |text: &str| text.parse::<u16>().ok().map(i64::from);
    let year = number(year)?;
    let month = number(month)?;
    let day = number(day)?;
    let is_right = [text.len(), parts[0].len(), parts[1].len()] == [10, 4, 2]
        && (1..=12).contains(&month)
        && (days_of_date(year, month, 1)..days_of_date(year, month + 1, 1))
            .contains(&days_of_date(year, month, day));
    is_right.then(|| days_of_date(year, month, day))
}

/// Returns the days from 1970 to a date; month 13 is the January of the next year. Years are counted from March, so that a leap
/// day ends its year.
fn days_of_date(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month <= 2 {
        (year - 1, month + 9)
    } else {
        (year, month - 3)
    };
    365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 719_469
}

/// Converts a time of day such as `12:00:05` to seconds since midnight; `None` if the text is no such time.
fn parse_clock(text: &str) -> Option<f64> {
    let parts: Vec<&str> = text.split(':').collect();
    let [hours, minutes, seconds] = parts[..] else {
        return None;
    };
    let whole = |text: &str, most: u32| text.parse().ok().filter(|number| *number <= most);
    let (hours, minutes): (u32, u32) = (whole(hours, u32::MAX)?, whole(minutes, 59)?);
    let seconds: f64 = seconds.parse().ok()?;
    (0.0..60.0)
        .contains(&seconds)
        .then(|| f64::from(hours) * 3600.0 + f64::from(minutes) * 60.0 + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_day_has_three_parts() {
        assert_eq!(
            ["0:0:1", "1:60:0", "1:0", "1:0:60", "-1:0:0"].map(parse_clock),
            [Some(1.0), None, None, None, None]
        );
    }

    #[test]
    fn dates_become_seconds_since_1970() {
        // `date -u -d 2011-03-03T00:05:00Z +%s` and so on.
        for (text, seconds) in [
            ("1970-01-01", 0.0),
            ("2011-03-03T00:05:00Z", 1_299_110_700.0),
            ("2011-03-03 00:05:00", 1_299_110_700.0),
            ("2011/03/03 01:35:00.5+01:30", 1_299_110_700.5),
            ("2000-02-29T12:00:00-0100", 951_829_200.0),
            ("2026-11-28 00:10:01 UTC", 1_795_824_601.0),
        ] {
            let expected = Some(LoadTime::Calendar(seconds));
            assert_eq!(LoadTime::parse(text), expected, "{text}");
        }
        let wrong = [
            "2011-02-29",
            "2011-13-01",
            "2011-00-01",
            "2011-03-03T24:00:00",
            "1299110700",
            "28.11.2026",
        ];
        assert_eq!(wrong.map(LoadTime::parse), [None; 6]);
    }
}
