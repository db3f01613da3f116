package program

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// Limits of a FilterSpec. maxSpecText is in bytes, maxHours is in hours, and maxTop and defaultTop are numbers of markets per
// lane.
const (
	maxSpecText   = 2 << 10
	maxCategories = 20
	maxHours      = 8760
	maxTop        = 50
	defaultTop    = 12
)

// ErrSpec is the error for an invalid FilterSpec. A spec must be a JSON object of at most 2 KiB. Its members must have the right
// type and be in range, and a minimum must not be greater than its maximum.
var ErrSpec = apperr.New(apperr.Invalid, "invalid_spec", `spec must be a FilterSpec, a JSON object such as {"maxYes":60}`)

// bound is an optional number.
type bound struct {
	value float64
	set   bool
}

// Spec is a parsed FilterSpec. It limits which markets a channel may air. The zero Spec limits nothing.
type Spec struct {
	categories           laneSet // empty: all lanes
	minVolume, maxVolume bound   // in dollars
	minYes, maxYes       bound   // price of YES from 0 to 100
	maxHours             bound   // maximum time until the end of the market
	top                  int     // maximum number of markets for each lane; 0: the default
}

// ParseSpec parses the JSON text of a FilterSpec. It returns the zero Spec for empty text. It ignores unknown members, unknown
// categories, and a list of categories without a known one. Error: ErrSpec.
func ParseSpec(text string) (Spec, error) {
	var s Spec
	if text == "" {
		return s, nil
	}
	if len(text) > maxSpecText {
		return Spec{}, ErrSpec.WithText("spec must be at most %d bytes long", maxSpecText)
	}
	members, err := readObject(text)
	if err != nil {
		return Spec{}, err
	}
	for name, raw := range members {
		if err := s.read(name, raw); err != nil {
			return Spec{}, err
		}
	}
	return s, s.check()
}

// readObject returns the members of a JSON object. It does not unmarshal into a struct, because encoding/json ignores the case of
// names and accepts duplicate members. Error: ErrSpec.
func readObject(text string) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, ErrSpec.WithText("spec must be a JSON object")
	}
	members := make(map[string]json.RawMessage)
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, ErrSpec.WithText("spec must be valid JSON").Wrap(err)
		}
		name, ok := t.(string)
		if !ok {
			return nil, ErrSpec.WithText("spec must be valid JSON")
		}
		if _, twice := members[name]; twice {
			return nil, ErrSpec.WithText("spec has a duplicate member; each name may occur once").With("field", name)
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, ErrSpec.WithText("spec must be valid JSON").Wrap(err)
		}
		members[name] = raw
	}
	if _, err := d.Token(); err != nil {
		return nil, ErrSpec.WithText("spec must be valid JSON").Wrap(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, ErrSpec.WithText("spec must be valid JSON")
	}
	return members, nil
}

func (s *Spec) read(name string, raw json.RawMessage) error {
	switch name {
	case "categories":
		return s.readCategories(raw)
	case "minVolume":
		return s.minVolume.read(name, raw, 0, math.MaxFloat64)
	case "maxVolume":
		return s.maxVolume.read(name, raw, 0, math.MaxFloat64)
	case "minYes":
		return s.minYes.read(name, raw, 0, 100)
	case "maxYes":
		return s.maxYes.read(name, raw, 0, 100)
	case "maxResolveHours":
		return s.maxHours.read(name, raw, math.SmallestNonzeroFloat64, maxHours)
	case "topPerCategory":
		var b bound
		if err := b.read(name, raw, 1, maxTop); err != nil {
			return err
		}
		if b.value != math.Trunc(b.value) {
			return ErrSpec.WithText("topPerCategory must be an integer").With("field", name)
		}
		s.top = int(b.value)
	}
	return nil
}

func (s *Spec) readCategories(raw json.RawMessage) error {
	var list []json.RawMessage
	if raw[0] != '[' || json.Unmarshal(raw, &list) != nil || len(list) > maxCategories {
		return ErrSpec.WithText("categories must be a list of at most %d lanes", maxCategories).With("field", "categories")
	}
	for _, item := range list {
		var name string
		if item[0] != '"' || json.Unmarshal(item, &name) != nil {
			return ErrSpec.WithText("categories must be a list of strings").With("field", "categories")
		}
		for _, l := range ParseLanes(name) {
			s.categories = s.categories.with(l)
		}
	}
	return nil
}

func (b *bound) read(name string, raw json.RawMessage, low, high float64) error {
	v, err := strconv.ParseFloat(string(raw), 64)
	if c := raw[0]; err != nil || (c != '-' && (c < '0' || c > '9')) {
		return ErrSpec.WithText("%s must be a number", name).With("field", name)
	}
	if v < low || v > high {
		return ErrSpec.WithText("%s must be %s", name, rangeOf(low, high)).With("field", name)
	}
	*b = bound{value: v + 0, set: true}
	return nil
}

// rangeOf describes the range from low to high in an error message. math.MaxFloat64 as high means no maximum, and
// math.SmallestNonzeroFloat64 as low means above 0.
func rangeOf(low, high float64) string {
	switch {
	case high == math.MaxFloat64:
		return fmt.Sprintf("at least %g", low)
	case low == math.SmallestNonzeroFloat64:
		return fmt.Sprintf("above 0 and at most %g", high)
	}
	return fmt.Sprintf("from %g to %g", low, high)
}

// check returns ErrSpec if a minimum is greater than its maximum.
func (s *Spec) check() error {
	if above(s.minVolume, s.maxVolume) {
		return ErrSpec.WithText("minVolume must not be above maxVolume").With("field", "minVolume")
	}
	if above(s.minYes, s.maxYes) {
		return ErrSpec.WithText("minYes must not be above maxYes").With("field", "minYes")
	}
	return nil
}

func above(low, high bound) bool { return low.set && high.set && low.value > high.value }

// over returns base with the members that s sets. If a bound of base contradicts a bound of s, the result does not have the bound
// of base. For example, a maximum of 500 dollars in s removes a minimum of 1000 dollars in base.
func (s Spec) over(base Spec) Spec {
	out := base
	if s.categories != 0 {
		out.categories = s.categories
	}
	out.minVolume, out.maxVolume = overPair(s.minVolume, s.maxVolume, base.minVolume, base.maxVolume)
	out.minYes, out.maxYes = overPair(s.minYes, s.maxYes, base.minYes, base.maxYes)
	if s.maxHours.set {
		out.maxHours = s.maxHours
	}
	if s.top != 0 {
		out.top = s.top
	}
	if out.top == 0 {
		out.top = defaultTop
	}
	return out
}

// overPair merges a minimum and a maximum with the bounds of a base spec. If the merged bounds contradict each other, it drops a
// bound of the base.
func overPair(low, high, baseLow, baseHigh bound) (bound, bound) {
	outLow, outHigh := baseLow, baseHigh
	if low.set {
		outLow = low
	}
	if high.set {
		outHigh = high
	}
	if above(outLow, outHigh) {
		if !low.set {
			outLow = bound{}
		} else {
			outHigh = bound{}
		}
	}
	return outLow, outHigh
}

// Canonical returns the canonical JSON text of the spec, which is equal for equal specs. Members have a fixed order, categories
// have display order, and numbers have their shortest form. ParseSpec parses the text to the same Spec.
func (s Spec) Canonical() string {
	b := []byte{'{'}
	if s.categories != 0 {
		b = append(b, `"categories":[`...)
		for i, l := range s.categories.lanes() {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendQuote(b, string(l))
		}
		b = append(b, ']')
	}
	for _, m := range [...]struct {
		name string
		bound
	}{
		{"minVolume", s.minVolume},
		{"maxVolume", s.maxVolume},
		{"minYes", s.minYes},
		{"maxYes", s.maxYes},
		{"maxResolveHours", s.maxHours},
		{"topPerCategory", bound{float64(s.top), s.top != 0}},
	} {
		if m.set {
			b = appendMember(b, m.name, m.value)
		}
	}
	return string(append(b, '}'))
}

func appendMember(b []byte, name string, v float64) []byte {
	if len(b) > 1 {
		b = append(b, ',')
	}
	b = append(strconv.AppendQuote(b, name), ':')
	format := byte('f')
	if v != 0 && (v < 1e-6 || v >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(b, v, format, -1, 64)
}
