//! A web server with one page, for programs that fetch in several parts.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

/// Serves the page at a free port for as long as this process lives; the address.
pub fn serve(page: Vec<u8>) -> std::io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = format!("http://{}/input", listener.local_addr()?);
    let page = Arc::new(page);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let page = Arc::clone(&page);
            // A client that goes away is none of our business.
            std::thread::spawn(move || drop(answer(stream, &page)));
        }
    });
    Ok(address)
}

fn answer(mut stream: TcpStream, page: &[u8]) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    let mut range = None;
    for line in lines {
        let line = line?.to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(asked) = line.strip_prefix("range: bytes=") {
            range = part(asked.trim(), page.len());
        }
    }
    let (head, body) = match range {
        Some((first, last)) => (
            format!(
                "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {first}-{last}/{}\r\n",
                page.len()
            ),
            &page[first..=last],
        ),
        None => ("HTTP/1.1 200 OK\r\n".to_owned(), page),
    };
    let length = body.len();
    write!(
        stream,
        "{head}Accept-Ranges: bytes\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    )?;
    match request.starts_with("HEAD") {
        true => Ok(()),
        false => stream.write_all(body),
    }
}

/// The first and the last byte of a range like `5-9` or `5-`; none if it does not lie within the page.
fn part(asked: &str, length: usize) -> Option<(usize, usize)> {
    let (first, last) = asked.split_once('-')?;
    let first: usize = first.parse().ok()?;
    let end = length.checked_sub(1)?;
    let last = match last {
        "" => end,
        last => last.parse::<usize>().ok()?.min(end),
    };
    (first <= last).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use super::{part, serve};

    #[test]
    fn ranges_lie_within_the_page() {
        assert_eq!(part("2-3", 10), Some((2, 3)));
        assert_eq!(part("2-", 10), Some((2, 9)));
        assert_eq!(part("2-99", 10), Some((2, 9)));
        for wrong in ["10-", "3-2", "-3", "x-1", "", "0-"] {
            let length = if wrong == "0-" { 0 } else { 10 };
            assert_eq!(part(wrong, length), None, "{wrong}");
        }
    }

    #[test]
    fn a_part_of_the_page_is_sent_or_all_of_it() {
        let address = serve(b"0123456789".to_vec()).unwrap();
        let host = address.strip_prefix("http://").unwrap();
        let host = host.strip_suffix("/input").unwrap();
        let ask = |line: &str| {
            let mut stream = TcpStream::connect(host).unwrap();
            write!(stream, "GET /input HTTP/1.0\r\n{line}\r\n").unwrap();
            let mut text = String::new();
            stream.read_to_string(&mut text).unwrap();
            text
        };
        let text = ask("Range: bytes=3-5\r\n");
        assert!(text.starts_with("HTTP/1.1 206 "), "{text}");
        assert!(text.contains("Content-Range: bytes 3-5/10"), "{text}");
        assert!(text.ends_with("\r\n\r\n345"), "{text}");
        assert!(ask("").ends_with("\r\n\r\n0123456789"));
    }
}
