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

// Short returns Clean(text), shortened to the given maximum number of characters. A shortened text ends with an ellipsis.
func Short(text string, most int) string {
	runes := []rune(Clean(text))
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most-1]) + "…"
}

// Table writes a table with one line for each item. The function cells returns the cells of an item. The parameter head
// contains the column titles, separated by commas. If there are no items, Table writes only the sentence in the parameter
// none. An empty cell is written as "-".
func Table[T any](to io.Writer, none, head string, items []T, cells func(T) []string) error {
	if len(items) == 0 {
		_, err := fmt.Fprintln(to, none)
		return err
	}
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, strings.ReplaceAll(head, ",", "\t")) // Flush returns the errors of writes
	for _, item := range items {
		line := cells(item)
		for i, cell := range line {
			line[i] = cmp.Or(Clean(cell), "-")
		}
		_, _ = fmt.Fprintln(w, strings.Join(line, "\t"))
	}
	return w.Flush()
}

// Pairs writes one line for each pair of a name and a value. The arguments are alternating names and values. Pairs with an empty
// value are omitted.
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
