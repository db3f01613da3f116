package rows

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// i1 sends broken bodies through every door, and runs the fuzz targets of the
// repository for a moment.
var i1 = frame.Row{
	ID: "I1", Title: "malformed input is a 400 that names the field, never a 500", Limit: 6 * time.Minute,
	Fault: frame.Fault{What: "the reader of bodies takes a member twice"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		c, err := gather(ctx, env, "I1", "i1-writer")
		if err != nil {
			return nil, err
		}
		ops, err := pool(ctx, env, "i1", 20, 1)
		if err != nil {
			return nil, err
		}
		sent, failed := 0, 0
		for _, d := range doors(env, c) {
			if d.body == nil {
				continue
			}
			if _, bySession := d.as.(client.Session); bySession {
				d.fields = nil // the same reader as by key, and a limit of its own
			}
			for i, b := range bodies(d) {
				r := d.raw(env, i, b.body)
				if _, byKey := d.as.(client.Key); byKey {
					r.As = ops[sent%len(ops)].Keys[0]
				}
				a := env.Client.Do(ctx, r)
				sent++
				if a.Status >= 500 || a.Err != nil {
					failed++
				}
				if why := b.judge(a); why != "" {
					seen.Wrong("%s, %s: %s", d.name, b.what, why)
				}
			}
		}
		panics, err := panics(env)
		if err != nil {
			return nil, err
		}
		seen.Check(panics == 0, "%d panics stand in the logs", panics)
		runs, targets, err := fuzz(ctx, env, seen)
		if err != nil {
			return nil, err
		}
		seen.Figure("fuzzExecutions", runs)
		seen.Promise("5xx 0, panics 0", fmt.Sprintf("5xx %d, panics %d", failed, panics))
		seen.Volume("%s bodies, %s executions of %d fuzz targets", frame.Number(sent), frame.Number(runs), targets)
		return seen, nil
	},
}

// broken is a body that must be refused.
type broken struct {
	what  string
	body  []byte
	field string // that the refusal must name; empty: the body as a whole
}

func (b broken) judge(a client.Answer) string {
	if a.Status != 400 {
		return "answered " + a.String()
	}
	switch field := a.Text("field"); {
	case b.field == "" && a.Code() != "invalid_body":
		return "answered " + a.String()
	case field != b.field:
		return fmt.Sprintf("names %q: %s", field, a)
	}
	return ""
}

// bodies are the hand cases for one door: broken texts, and wrong members.
func bodies(d door) []broken {
	good, _ := json.Marshal(d.body) // it holds nothing that cannot be written
	var list []broken
	for what, make := range brokenTexts {
		list = append(list, broken{what: what, body: make(good)})
	}
	for _, m := range d.fields {
		for _, wrong := range wrongValues[m.kind] {
			list = append(list, broken{m.name + " is " + wrong, with(d.body, m.name, wrong), m.name})
		}
		if !m.need {
			continue
		}
		less := maps.Clone(d.body)
		delete(less, m.name)
		missing, _ := json.Marshal(less)
		list = append(list, broken{m.name + " is missing", missing, m.name},
			broken{m.name + " is null", with(d.body, m.name, "null"), m.name},
			broken{m.name + " in other letters", with(less, strings.ToUpper(m.name), `"x"`), m.name})
	}
	return list
}

// with puts a JSON text in the place of a member.
func with(body map[string]any, name, value string) []byte {
	all := maps.Clone(body)
	all[name] = "\x01"
	raw, _ := json.Marshal(all)
	return bytes.Replace(raw, []byte(`"\u0001"`), []byte(value), 1)
}

var wrongValues = map[memberKind][]string{
	aText:    {"7", "true", "[]", "{}", "1e400"},
	aNumber:  {`"7"`, "true", "[]", "{}", "1.5", "-0", "1e-2", "1e400", "9223372036854775808", "-9223372036854775809"},
	aTruth:   {`"true"`, "1", "[]", "{}"},
	aList:    {`"read"`, "7", "{}", "[7]", "[[]]", "[null]"},
	anObject: {`"x"`, "7", "[]", "true"},
}

// brokenTexts spoil a good body as a whole.
var brokenTexts = map[string]func(good []byte) []byte{
	"null":                     func([]byte) []byte { return []byte("null") },
	"a truth":                  func([]byte) []byte { return []byte("true") },
	"a text":                   func([]byte) []byte { return []byte(`"x"`) },
	"a number":                 func([]byte) []byte { return []byte("1") },
	"a list":                   func(good []byte) []byte { return join("[", good, "]") },
	"white space":              func([]byte) []byte { return []byte(" \n\t ") },
	"two documents":            func(good []byte) []byte { return join("", good, string(good)) },
	"a tail":                   func(good []byte) []byte { return join("", good, "x") },
	"cut short":                func(good []byte) []byte { return good[:len(good)-1] },
	"a byte order mark":        func(good []byte) []byte { return join("\xef\xbb\xbf", good, "") },
	"sixteen bits a letter":    func(good []byte) []byte { return bytes.Join([][]byte{{'{'}, good, nil}, []byte{0}) },
	"a NUL":                    inside(`"x":"` + "\x00" + `"`),
	"an escaped NUL":           inside(`"x":"\u0000"`),
	"an escaped NUL in a name": inside(`"x\u0000":1`),
	"no UTF-8":                 inside(`"x":"` + "\xff\xfe" + `"`),
	"an overlong letter":       inside(`"x":"` + "\xc0\xaf" + `"`),
	"a raw surrogate":          inside(`"x":"` + "\xed\xa0\x80" + `"`),
	"half a surrogate":         inside(`"x":"\ud800"`),
	"the other half":           inside(`"x":"\udc00 "`),
	"surrogates exchanged":     inside(`"x":"\udc00\ud800"`),
	"a member twice":           inside(`"x":1,"x":2`),
	"a member twice, escaped":  inside(`"x":1,"\u0078":2`),
	"forty levels":             inside(`"x":` + strings.Repeat("[", 40) + strings.Repeat("]", 40)),
	"ten thousand levels":      inside(`"x":` + strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000)),
	"a comma too many":         inside(`"x":1,`),
	"a comma alone":            inside(`,`),
	"single quotes":            inside(`'x':1`),
	"a bare name":              inside(`x:1`),
	"a comment":                inside(`"x":1/* c */`),
	"not a number":             inside(`"x":NaN`),
	"infinity":                 inside(`"x":Infinity`),
	"a leading zero":           inside(`"x":01`),
	"a plus sign":              inside(`"x":+1`),
	"hexadecimal":              inside(`"x":0x1F`),
	"a bare fraction":          inside(`"x":.5`),
	"an open fraction":         inside(`"x":1.`),
	"an open exponent":         inside(`"x":1e`),
	"a minus alone":            inside(`"x":-`),
	"a raw line break":         inside(`"x":"` + "\n" + `"`),
	"an unknown escape":        inside(`"x":"\x41"`),
	"an open escape":           inside(`"x":"\u00"`),
	"half a word":              inside(`"x":tru`),
}

func join(before string, good []byte, after string) []byte {
	return append(append([]byte(before), good...), after...)
}

// inside puts members before those of a good body.
func inside(members string) func(good []byte) []byte {
	return func(good []byte) []byte {
		if string(good) == "{}" {
			return []byte("{" + members + "}")
		}
		return join("{"+members+",", good[1:], "")
	}
}

// panics counts the lines of the logs that tell of one.
func panics(env *frame.Env) (n int, err error) {
	logs, err := env.Stack.Logs()
	if err != nil {
		return 0, err
	}
	for _, path := range logs {
		raw, err := os.ReadFile(path)
		if err != nil {
			return 0, err
		}
		n += bytes.Count(raw, []byte("panic:"))
	}
	return n, nil
}
