package message

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
)

// form reads the members of a payload, each at most once, and keeps the first
// thing that is wrong.
type form struct {
	members map[string]json.RawMessage
	left    map[string]bool
	least   int
	err     error
}

func newForm(canonical []byte) (*form, error) {
	members, err := object(canonical)
	if err != nil {
		return nil, invalid(ReasonPayload, "payload is an object")
	}
	f := &form{members: members, left: map[string]bool{}}
	for name := range members {
		f.left[name] = true
	}
	return f, nil
}

// close gives what was wrong, else refuses members that nobody read.
func (f *form) close() error {
	if f.err != nil {
		return f.err
	}
	for _, name := range slices.Sorted(maps.Keys(f.left)) {
		f.fail(name, "no such member")
		return f.err
	}
	if len(f.members) < f.least {
		return invalid(ReasonPayload, "payload has at least %d members", f.least)
	}
	return nil
}

func (f *form) fail(name, text string) {
	if f.err == nil {
		f.err = invalid(ReasonPayload, "%s: %s", "payload."+name, text).With(memberField, name)
	}
}

// atLeast wants n members.
func (f *form) atLeast(n int) { f.least = n }

// take finds the member under one of its names; two of them are ambiguous.
func (f *form) take(names ...string) (name string, value json.RawMessage) {
	for _, n := range names {
		v, there := f.members[n]
		if !there {
			continue
		}
		delete(f.left, n)
		if value != nil {
			f.fail(n, "is another name of "+name+": give one of them")
			return name, nil
		}
		name, value = n, v
	}
	return name, value
}

// may reads a text that may be left out. The first name is the usual one.
func (f *form) may(good func(string) bool, names ...string) *string {
	name, value := f.take(names...)
	if value == nil {
		return nil
	}
	s, ok := text(value)
	if !ok || !good(s) {
		f.fail(name, "has another form")
		return nil
	}
	return &s
}

// must reads a text.
func (f *form) must(good func(string) bool, names ...string) string {
	if s := f.may(good, names...); s != nil {
		return *s
	}
	f.fail(names[0], "is missing")
	return ""
}

// clearable reads a text that may be null.
func (f *form) clearable(good func(string) bool, name string) Clearable {
	if string(f.members[name]) == "null" {
		delete(f.left, name)
		return Clearable{Given: true}
	}
	s := f.may(good, name)
	return Clearable{Given: s != nil, Text: s}
}

// mayInt reads a whole number from low to high that may be left out.
func (f *form) mayInt(name string, low, high int) *int {
	_, value := f.take(name)
	if value == nil {
		return nil
	}
	// The canonical form of a whole number of this size is its digits.
	n, err := strconv.Atoi(string(value))
	if err != nil || n < low || n > high {
		f.fail(name, "is a whole number from "+strconv.Itoa(low)+" to "+strconv.Itoa(high))
		return nil
	}
	return &n
}

func (f *form) mustInt(name string, low, high int) int {
	if n := f.mayInt(name, low, high); n != nil {
		return *n
	}
	f.fail(name, "is missing")
	return 0
}

// mayTime reads a time that may be left out.
func (f *form) mayTime(name string) *time.Time {
	s := f.may(stamp, name)
	if s == nil {
		return nil
	}
	t, _ := syntax.ParseStamp(*s)
	return &t
}

func (f *form) mustTime(name string) time.Time {
	t, _ := syntax.ParseStamp(f.must(stamp, name))
	return t
}

// list reads an array of at most limit texts; nil when it is left out.
func list[T ~string](f *form, name string, limit int, unique bool, good func(string) bool) []T {
	_, value := f.take(name)
	if value == nil {
		return nil
	}
	var raw []json.RawMessage
	if value[0] != '[' || json.Unmarshal(value, &raw) != nil || len(raw) > limit {
		f.fail(name, "is a list of at most "+strconv.Itoa(limit))
		return nil
	}
	out := make([]T, 0, len(raw))
	for _, v := range raw {
		s, ok := text(v)
		if !ok || !good(s) || unique && slices.Contains(out, T(s)) {
			f.fail(name, "has an entry of another form")
			return nil
		}
		out = append(out, T(s))
	}
	return out
}

// as gives an optional text or number its own type.
func as[T, S interface{ ~string | ~int }](v *S, to func(S) T) *T {
	if v == nil {
		return nil
	}
	t := to(*v)
	return &t
}
