package rows

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
)

// witness is what the healthy system said of one read, each time it was asked.
type witness struct {
	status map[int]bool
	values map[string]map[string]bool // by member, lists without their numbers
	full   map[string]bool            // lists of the top that were never empty
}

// hear takes one more answer in.
func (w *witness) hear(a client.Answer) {
	if w.status == nil {
		w.status, w.values, w.full = map[int]bool{}, map[string]map[string]bool{}, map[string]bool{}
		for name := range lists(a.Body) {
			w.full[name] = true
		}
	}
	w.status[a.Status] = true
	for name, rows := range lists(a.Body) {
		if rows == 0 {
			delete(w.full, name)
		}
	}
	var v any
	if json.Unmarshal(a.Body, &v) != nil {
		return // a page
	}
	leaves("", v, func(at, value string) {
		if w.values[at] == nil {
			w.values[at] = map[string]bool{}
		}
		w.values[at][value] = true
	})
}

// lists gives the lists of an answer by member, with their lengths.
func lists(body []byte) map[string]int {
	var all map[string]json.RawMessage
	if json.Unmarshal(body, &all) != nil {
		return nil
	}
	out := map[string]int{}
	for name, raw := range all {
		var rows []json.RawMessage
		if json.Unmarshal(raw, &rows) == nil && rows != nil {
			out[name] = len(rows)
		}
	}
	return out
}

// missing names the lists of a 200 that are empty here and never were elsewhere.
func (w *witness) missing(c *cell) (out []string) {
	for name, rows := range lists(c.answer.Body) {
		if rows == 0 && w.full[name] && c.answer.Status == http.StatusOK {
			out = append(out, name)
		}
	}
	return out
}

// leaves calls found for every number and text.
func leaves(at string, v any, found func(at, value string)) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			leaves(at+"."+name, inner, found)
		}
	case []any:
		for _, inner := range v {
			leaves(at+"[]", inner, found)
		}
	case float64:
		found(at, strconv.FormatFloat(v, 'g', -1, 64))
	case string:
		if strings.Contains(v, " ") {
			v = digits.ReplaceAllString(v, "#") // "resolves in 52 min" goes on with the time
		}
		found(at, v)
	}
}

var (
	digits = regexp.MustCompile(`[0-9]+`)
	price  = regexp.MustCompile(`(?i)(bps|price)$`)
)

// invented lists what an answer says and the healthy system never did. Zero is
// no claim, times of the answer pass on, an answer may repeat what was asked or
// say that it is empty, and of a whole one only prices stand still.
func (w *witness) invented(c *cell) (out []string) {
	whole := c.answer.Header.Get("X-Degraded") == ""
	var v any
	if json.Unmarshal(c.answer.Body, &v) != nil {
		return nil
	}
	leaves("", v, func(at, value string) {
		_, noTime := time.Parse(time.RFC3339, value)
		if whole && (strings.Contains(at, "[]") || !price.MatchString(at)) || value == "0" || value == "" || value == "empty" || noTime == nil || w.values[at][value] || strings.Contains(c.path, value) {
			return
		}
		out = append(out, fmt.Sprintf("%s %.60s", at, value))
	})
	return out
}

// fits holds an answer against the description.
func (c *cell) fits(ctx context.Context) error {
	if c.answer.Err != nil {
		return c.answer.Err
	}
	return c.op.Check(ctx, "http://127.0.0.1"+c.path, c.answer.Status, c.answer.Header, c.answer.Body)
}

func oneLine(err error) string {
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}
