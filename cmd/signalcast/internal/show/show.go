package show

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf16"
)

// JSON writes an answer as it came, in lines, with what cannot be seen escaped.
func JSON(to io.Writer, raw []byte) error {
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(raw), "", "  "); err != nil {
		return fmt.Errorf("the answer is no JSON: %w", err)
	}
	return escaped(to, b.String())
}

// Line writes one JSON value in one line, with what cannot be seen escaped.
func Line(to io.Writer, raw []byte) error {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return fmt.Errorf("this is no JSON: %w", err)
	}
	return escaped(to, b.String())
}

func escaped(to io.Writer, text string) error {
	var out strings.Builder
	for _, r := range text + "\n" {
		switch {
		case r == '\n', unicode.IsPrint(r):
			out.WriteRune(r)
		case r == '\t', r == '\r': // between members: inside a text they are escaped already
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

// Clean makes one line of a text, of characters that can be seen.
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

// Short limits a text to most characters.
func Short(text string, most int) string {
	runes := []rune(Clean(text))
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most-1]) + "…"
}

// Table writes one line of cells for each item under a head, whose words are separated by commas; without items it writes none.
func Table[T any](to io.Writer, none, head string, items []T, cells func(T) []string) error {
	if len(items) == 0 {
		_, err := fmt.Fprintln(to, none)
		return err
	}
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, strings.ReplaceAll(head, ",", "\t")) // w reports its errors at Flush
	for _, item := range items {
		line := cells(item)
		for i, cell := range line {
			line[i] = cmp.Or(Clean(cell), "-")
		}
		_, _ = fmt.Fprintln(w, strings.Join(line, "\t"))
	}
	return w.Flush()
}

// Pairs writes names and values; those without a value are left out.
func Pairs(to io.Writer, pairs ...string) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for i := 0; i+1 < len(pairs); i += 2 {
		value := Clean(pairs[i+1])
		if value == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "%s\t%s\n", pairs[i], value); err != nil {
			return err
		}
	}
	return w.Flush()
}

// Cents writes a price of hundredths of a cent: 6850 is 68.5.
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
