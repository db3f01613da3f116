package outage

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// facts contains the answers of the healthy system to one read request.
type facts struct {
	status   map[int]bool
	values   map[string]map[string]bool // numbers and texts by member path; all elements of an array have the same path
	nonEmpty map[string]bool            // members that are arrays and were never empty
}

func newFacts(a stack.Answer) *facts {
	f := &facts{status: map[int]bool{}, values: map[string]map[string]bool{}, nonEmpty: map[string]bool{}}
	for name := range listLengths(a.Body) {
		f.nonEmpty[name] = true
	}
	return f
}

func (f *facts) add(a stack.Answer) {
	f.status[a.Status] = true
	for name, n := range listLengths(a.Body) {
		f.nonEmpty[name] = f.nonEmpty[name] && n > 0
	}
	eachValue(a.Body, func(member, value string) {
		if f.values[member] == nil {
			f.values[member] = map[string]bool{}
		}
		f.values[member][value] = true
	})
}

// listLengths returns the length of each array member of an object.
func listLengths(body []byte) map[string]int {
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return nil // the body is a page or another JSON value
	}
	out := map[string]int{}
	for name, raw := range members {
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil && list != nil {
			out[name] = len(list)
		}
	}
	return out
}

// missing returns the list members that are empty in an answer with status 200 although they were not empty in the healthy
// system.
func (f *facts) missing(a stack.Answer) (out []string) {
	for name, n := range listLengths(a.Body) {
		if n == 0 && f.nonEmpty[name] && a.Status == http.StatusOK {
			out = append(out, name)
		}
	}
	return out
}

var (
	digits = regexp.MustCompile(`[0-9]+`)
	prices = regexp.MustCompile(`(?i)(bps|price)$`)
)

// eachValue calls do for every number and text in a JSON body. member is its path.
func eachValue(body []byte, do func(member, value string)) {
	var v any
	if json.Unmarshal(body, &v) != nil {
		return // the body is a page
	}
	var walk func(member string, v any)
	walk = func(member string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, inner := range v {
				walk(member+"."+name, inner)
			}
		case []any:
			for _, inner := range v {
				walk(member+"[]", inner)
			}
		case float64:
			do(member, strconv.FormatFloat(v, 'g', -1, 64))
		case string:
			if strings.Contains(v, " ") {
				v = digits.ReplaceAllString(v, "#") // texts such as "resolves in 52 min" change with time
			}
			do(member, v)
		}
	}
	walk("", v)
}

// unknownValues returns the values of an answer that the healthy system has never returned. It ignores zero, empty texts,
// times, and values that repeat the request. In a complete answer it checks only prices, because other values change.
func (f *facts) unknownValues(a answered) (out []string) {
	eachValue(a.Body, func(member, value string) {
		_, notTime := time.Parse(time.RFC3339, value)
		switch {
		case !a.degraded() && (strings.Contains(member, "[]") || !prices.MatchString(member)):
		case value == "0", value == "", value == "empty", notTime == nil, f.values[member][value], strings.Contains(a.path, value):
		default:
			out = append(out, fmt.Sprintf("%s %.60s", member, value))
		}
	})
	return out
}
