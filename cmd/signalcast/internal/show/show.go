package show

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
)

// JSON writes JSON with indentation. It escapes characters that are not printable.
func JSON(to io.Writer, raw []byte) error {
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(raw), "", "  "); err != nil {
		return fmt.Errorf("the response is not JSON: %w", err)
	}
	return writeEscaped(to, b.String())
}

// Line writes one JSON value on one line. It escapes characters that are not printable.
func Line(to io.Writer, raw []byte) error {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return fmt.Errorf("the message is not valid JSON: %w", err)
	}
	return writeEscaped(to, b.String())
}

// Text writes a text for a terminal. It omits characters that are neither printable nor line ends.
func Text(to io.Writer, from io.Reader) error {
	lines := bufio.NewScanner(io.LimitReader(from, maxText))
	lines.Buffer(nil, maxText)
	for lines.Scan() {
		line := strings.Map(func(r rune) rune {
			if r == '\t' || unicode.IsPrint(r) {
				return r
			}
			return -1
		}, lines.Text())
		if _, err := fmt.Fprintln(to, line); err != nil {
			return err
		}
	}
	return lines.Err()
}

// maxText is the maximum number of bytes that Text writes.
const maxText = 16 << 20

// writeEscaped writes JSON text and a line end. It escapes each character that is not printable as \uXXXX.
func writeEscaped(to io.Writer, text string) error {
	var out strings.Builder
	for _, r := range text + "\n" {
		switch {
		case r == '\n', unicode.IsPrint(r):
			out.WriteRune(r)
		case r == '\t', r == '\r': // these are between members; JSON strings contain them only escaped
			out.WriteByte(' ')
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	_, err := io.WriteString(to, out.String())
	return err
}

// Clean returns a text as one line of printable characters. It joins words with one space and drops other invisible characters.
func Clean(text string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return -1
	}, text)), " ")
}

// Short returns Clean(text), shortened to the given maximum number of characters.
func Short(text string, most int) string { return Cut(Clean(text), most) }

// Cut returns a text with at most the given number of characters. A shortened text ends with an ellipsis.
func Cut(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-1]) + "…"
}

// Cents returns a price in bps (hundredths of a cent) as text in cents: "68.5" for 6850.
func Cents(bps int) string {
	sign := ""
	if bps < 0 {
		sign, bps = "-", -bps
	}
	text := fmt.Sprintf("%s%d", sign, bps/100)
	if rest := bps % 100; rest != 0 {
		text += strings.TrimRight(fmt.Sprintf(".%02d", rest), "0")
	}
	return text
}
