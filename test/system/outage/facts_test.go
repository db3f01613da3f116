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

// facts are what the healthy system has answered to one read.
type facts struct {
	status   map[int]bool
	values   map[string]map[string]bool // numbers and texts by member; the elements of a list have one name
	nonEmpty map[string]bool            // members that are lists and were never empty
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

// listLengths returns the length of each member of an object that is a list.
func listLengths(body []byte) map[string]int {
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return nil // a page, or another value
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

// missing returns the lists of a 200 that are empty and are not so in the healthy system.
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

// eachValue calls do for every number and text of a JSON body.
func eachValue(body []byte, do func(member, value string)) {
	var v any
	if json.Unmarshal(body, &v) != nil {
		return // a page
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
				v = digits.ReplaceAllString(v, "#") // "resolves in 52 min" changes with time
			}
			do(member, v)
		}
	}
	walk("", v)
}

// invented returns what an answer says and the healthy system has never said. Zero and empty texts say nothing, times change,
// an answer may repeat the request, and of a complete answer only prices do not change.
func (f *facts) invented(a answered) (out []string) {
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
