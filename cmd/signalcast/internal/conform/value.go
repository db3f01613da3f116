package conform

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// decode reads one JSON value; nil is none.
func decode(raw []byte) any {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	if d.Decode(&v) != nil {
		return nil
	}
	if _, err := d.Token(); err != io.EOF {
		return nil
	}
	return v
}

// at finds a value by its path, like signals.0.id; nil is null or not there.
func at(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

func text(v any, path string) string {
	s, _ := at(v, path).(string)
	return s
}

func list(v any, path string) []any {
	l, _ := at(v, path).([]any)
	return l
}

// number gives a number; false when there is none.
func number(v any, path string) (float64, bool) {
	n, ok := at(v, path).(float64)
	return n, ok
}

// whole gives a whole number; false when there is none.
func whole(v any, path string) (int, bool) {
	n, ok := number(v, path)
	if !ok || n != math.Trunc(n) || math.Abs(n) > 1<<53 {
		return 0, false
	}
	return int(n), true
}

// moment reads a time.
func moment(v any, path string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, text(v, path))
	return t, err == nil
}

// each calls f for every object in a value, however deep.
func each(v any, path string, f func(path string, o map[string]any)) {
	switch in := v.(type) {
	case map[string]any:
		f(path, in)
		for _, name := range slices.Sorted(maps.Keys(in)) {
			each(in[name], path+"."+name, f)
		}
	case []any:
		for i, inner := range in {
			each(inner, path+"."+strconv.Itoa(i), f)
		}
	}
}

// object writes a request's body.
func object(pairs ...any) string {
	o := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		o[pairs[i].(string)] = pairs[i+1]
	}
	raw, err := json.Marshal(o)
	if err != nil {
		panic(err) // the check is written wrong
	}
	return string(raw)
}

// say writes a value for a report.
func say(v any) string {
	if v == nil {
		return "null, or nothing"
	}
	if s, ok := v.(string); ok {
		return strconv.Quote(cut(s, 60))
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return cut(string(raw), 80)
}

func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
