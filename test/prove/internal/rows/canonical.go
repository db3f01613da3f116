package rows

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
)

func write(out *bytes.Buffer, v any) {
	switch v := v.(type) {
	case map[string]any:
		sep := byte('{')
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out.WriteByte(sep)
			quote(out, name)
			out.WriteByte(':')
			write(out, v[name])
			sep = ','
		}
		if len(v) == 0 {
			out.WriteByte('{')
		}
		out.WriteByte('}')
	case []string:
		out.WriteByte('[')
		for i, s := range v {
			if i > 0 {
				out.WriteByte(',')
			}
			quote(out, s)
		}
		out.WriteByte(']')
	case string:
		quote(out, v)
	case nil:
		out.WriteString("null")
	case bool, int, int64:
		fmt.Fprint(out, v)
	default:
		panic(fmt.Sprintf("a row signs no %T", v))
	}
}

// quote writes a text: what stands for itself, stands for itself.
func quote(out *bytes.Buffer, s string) {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}
	out.WriteByte('"')
	for _, r := range s {
		switch escaped, known := short[r]; {
		case known:
			out.WriteString(escaped)
		case r < ' ':
			fmt.Fprintf(out, `\u%04x`, r)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
}
