package conform

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// decode decodes one JSON value. It returns nil for invalid JSON and for data after the value.
func decode(raw []byte) any {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	if d.Decode(&v) != nil {
		return nil
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil
	}
	return v
}

// at returns the value at a path such as signals.0.id in v. It returns nil if the value is null or missing.
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

// number returns the number at a path, and false if there is none.
func number(v any, path string) (float64, bool) {
	n, ok := at(v, path).(float64)
	return n, ok
}

// integer returns the integer at a path, and false if there is none.
func integer(v any, path string) (int, bool) {
	n, ok := number(v, path)
	if !ok || n != math.Trunc(n) || math.Abs(n) > 1<<53 {
		return 0, false
	}
	return int(n), true
}

// timeAt returns the RFC 3339 time at a path, and false if there is none.
func timeAt(v any, path string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, text(v, path))
	return t, err == nil
}

// each calls f for every object in v, at any depth, with the path of the object.
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

// object returns a JSON object as text, for the body of a request. pairs are alternating names and values.
func object(pairs ...any) string {
	o := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		o[pairs[i].(string)] = pairs[i+1]
	}
	raw, err := json.Marshal(o)
	if err != nil {
		panic(err) // the values are constants of the checks, so this is an error of a check
	}
	return string(raw)
}

// describe returns a value as short text for the report. For nil it returns "null or missing".
func describe(v any) string {
	if v == nil {
		return "null or missing"
	}
	if s, ok := v.(string); ok {
		return strconv.Quote(shorten(s, 60))
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return shorten(string(raw), 80)
}

// shorten returns s, shortened to the given maximum number of characters. A shortened text ends with an ellipsis.
func shorten(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
