package show

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Format contains the flags that select the form of the output. All commands have them.
type Format struct {
	JSON     bool     `name:"json" xor:"form" help:"Print JSON. This is the default if the output is not a terminal."`
	Table    bool     `xor:"form" help:"Print a table, also if the output is not a terminal."`
	CSV      bool     `name:"csv" xor:"form" help:"Print comma-separated values."`
	Columns  []string `help:"Print only these columns of the table, in this order, such as ID,YES." placeholder:"NAME"`
	NoHeader bool     `help:"Print a table or comma-separated values without the names of the columns."`
}

// Check returns an error if flags contradict each other.
func (f *Format) Check() error {
	if f.JSON && (len(f.Columns) > 0 || f.NoHeader) {
		return errors.New("--columns and --no-header select parts of a table; omit --json")
	}
	return nil
}

// Text reports whether a flag selects a table or comma-separated values.
func (f *Format) Text() bool { return f.Table || f.CSV || f.NoHeader || len(f.Columns) > 0 }

// Only returns an error if a flag of f selects a form that the command does not have. The parameter forms contains the names
// of the flags that the command accepts. The parameter because says what the command writes; it begins the error text.
func (f *Format) Only(because string, forms ...string) error {
	for _, flag := range []struct {
		name string
		set  bool
	}{
		{"json", f.JSON},
		{"table", f.Table},
		{"csv", f.CSV},
		{"columns", len(f.Columns) > 0},
		{"no-header", f.NoHeader},
	} {
		if flag.set && !slices.Contains(forms, flag.name) {
			return fmt.Errorf("%s; it does not accept --%s", because, flag.name)
		}
	}
	return nil
}

// Output is the destination of the results of a command, with their form.
type Output struct {
	io.Writer
	Format
	Width int  // maximum number of characters of a line of a table; 0: no limit
	Color bool // color words such as won and lost
}

// minLastColumn is the minimum number of characters to which the last column of a table is shortened.
const minLastColumn = 16

// Table writes a table with one line for each item, or comma-separated values. The function cells returns the cells of an item.
// The parameter head contains the column names, separated by commas. An empty cell is shown as "-". The last column is shortened
// to the width of the terminal. Without items, Table writes the text in the parameter none instead of a table.
func Table[T any](to *Output, none, head string, items []T, cells func(T) []string) error {
	names := strings.Split(head, ",")
	at, err := to.selected(head)
	if err != nil {
		return err
	}
	if len(items) == 0 && !to.CSV {
		if to.NoHeader {
			return nil
		}
		_, err := fmt.Fprintln(to, none)
		return err
	}
	rows := make([][]string, 0, len(items)+1)
	if !to.NoHeader {
		rows = append(rows, pick(names, at))
	}
	for _, item := range items {
		rows = append(rows, pick(cells(item), at))
	}
	return to.write(pick(names, at), rows)
}

// Pairs writes an object as one line for each pair of a name and a value, or as comma-separated values with one line of names and
// one of values. The arguments are alternating names and values. Pairs with an empty value are omitted from the lines.
func Pairs(to *Output, pairs ...string) error {
	var names, values []string
	for i := 0; i+1 < len(pairs); i += 2 {
		names, values = append(names, pairs[i]), append(values, Clean(pairs[i+1]))
	}
	if len(to.Columns) > 0 {
		var at []int
		for _, name := range to.Columns {
			if i := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, name) }); i >= 0 {
				at = append(at, i)
			}
		}
		names, values = pick(names, at), pick(values, at)
	}
	if to.CSV {
		rows := [][]string{names, values}
		if to.NoHeader {
			rows = rows[1:]
		}
		return to.write(names, rows)
	}
	width := 0
	for i, name := range names {
		if values[i] != "" {
			width = max(width, utf8.RuneCountInString(name))
		}
	}
	for i, name := range names {
		if values[i] == "" {
			continue
		}
		line := to.paint(name, values[i])
		if !to.NoHeader {
			line = pad(name, width) + "  " + line
		}
		if _, err := fmt.Fprintln(to, line); err != nil {
			return err
		}
	}
	return nil
}

// CheckColumns returns an error if --columns contains a name that is not in the list head of column names.
func (o *Output) CheckColumns(head string) error {
	_, err := o.selected(head)
	return err
}

// selected returns the positions of the columns that --columns selects; by default, of all columns.
func (o *Output) selected(head string) (at []int, err error) {
	names := strings.Split(head, ",")
	if len(o.Columns) == 0 {
		for i := range names {
			at = append(at, i)
		}
	}
	for _, name := range o.Columns {
		i := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
		if i < 0 {
			return nil, fmt.Errorf("--columns: there is no column %q; the columns are %s", Short(name, 40), head)
		}
		at = append(at, i)
	}
	return at, nil
}

// pick returns the cells at the given positions.
func pick(cells []string, at []int) []string {
	out := make([]string, len(at))
	for i, n := range at {
		out[i] = cells[n]
	}
	return out
}

// write writes rows as comma-separated values or as a table. The parameter names contains the names of the columns.
func (o *Output) write(names []string, rows [][]string) error {
	for _, row := range rows {
		for i, cell := range row {
			row[i] = Clean(cell)
		}
	}
	if o.CSV {
		return csv.NewWriter(o).WriteAll(rows)
	}
	last := len(names) - 1
	widths := make([]int, len(names))
	for _, row := range rows {
		for i, cell := range row {
			row[i] = cmp.Or(cell, "-")
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	if o.Width > 0 {
		left := o.Width
		for _, w := range widths[:last] {
			left -= w + 2
		}
		widths[last] = min(widths[last], max(left, minLastColumn))
	}
	for n, row := range rows {
		line := ""
		for i, cell := range row {
			text := pad(cell, widths[i])
			if i == last {
				text = Short(cell, widths[i])
			}
			if n > 0 || o.NoHeader {
				text = o.paint(names[i], text)
			}
			if line += text; i < last {
				line += "  "
			}
		}
		if _, err := fmt.Fprintln(o, line); err != nil {
			return err
		}
	}
	return nil
}

// pad returns a text with spaces up to the given number of characters.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(width-utf8.RuneCountInString(text), 0))
}

// Colors of ECMA-48 8.3.117 (SGR).
const (
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	reset  = "\x1b[0m"
)

// colors contains the colors of words.
var colors = map[string]string{
	"won": green, "open": green, "active": green, "delivered": green, "ok": green,
	"lost": red, "revoked": red, "failed": red, "FAIL": red, "disputed": red,
	"void": yellow, "pending": yellow, "closed": yellow, "stopped": yellow, "skip": yellow,
}

// paintedColumns lists the names of the columns and pairs whose words are colored.
var paintedColumns = []string{"STATUS", "STATE", "RESULT"}

// paint adds the color of a word to a cell of the column with the given name.
func (o *Output) paint(name, cell string) string {
	if !slices.Contains(paintedColumns, strings.ToUpper(name)) {
		return cell
	}
	return o.Paint(cell)
}

// Paint adds the color of a word, which may be followed by spaces. Words without a color do not change.
func (o *Output) Paint(word string) string {
	color := colors[strings.TrimSpace(word)]
	if !o.Color || color == "" {
		return word
	}
	return color + word + reset
}
