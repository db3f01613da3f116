package program

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseSpec(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		``:   `{}`,
		`{}`: `{}`,
		`{"categories":["science"],"minVolume":1000,"topPerCategory":12}`:     `{"categories":["science"],"minVolume":1000,"topPerCategory":12}`,
		`{"topPerCategory":3.0,"categories":["crypto","sports","crypto"]}`:    `{"categories":["sports","crypto"],"topPerCategory":3}`,
		`{"categories":["ENTERTAINMENT"]}`:                                    `{"categories":["film","tv"]}`,
		`{"categories":["weather"]}`:                                          `{}`,
		`{"categories":[]}`:                                                   `{}`,
		`{"maxYes":60.50,"minYes":40e0}`:                                      `{"minYes":40,"maxYes":60.5}`,
		`{"maxResolveHours":8760}`:                                            `{"maxResolveHours":8760}`,
		`{"maxResolveHours":0.5}`:                                             `{"maxResolveHours":0.5}`,
		`{"minVolume":0,"maxVolume":0}`:                                       `{"minVolume":0,"maxVolume":0}`,
		`{"minVolume":-0}`:                                                    `{"minVolume":0}`,
		`{"minVolume":1e300}`:                                                 `{"minVolume":1e+300}`,
		`{"MinVolume":"x","lane":null,"other":{"deep":[1]}}`:                  `{}`,
		` { "minYes" : 1 } `:                                                  `{"minYes":1}`,
		`{"categories":["` + strings.Repeat(`a","`, 19) + `sports"]}`:         `{"categories":["sports"]}`,
		`{"minYes":1,"pad":"` + strings.Repeat("x", 2048-21) + `"}`:           `{"minYes":1}`,
		`{"minYes":0,"maxYes":100,"topPerCategory":50,"maxResolveHours":1}`:   `{"minYes":0,"maxYes":100,"maxResolveHours":1,"topPerCategory":50}`,
		`{"categories":["politics","news","tech","economy","culture","tv"]}`:  `{"categories":["tv","culture","politics","news","tech","economy"]}`,
		`{"minVolume":1000.25,"categories":["WORLD"],"maxVolume":1000000000}`: `{"categories":["news"],"minVolume":1000.25,"maxVolume":1000000000}`,
	} {
		s, err := ParseSpec(in)
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got := s.Canonical(); got != want {
			t.Errorf("%s: canonical %s, want %s", in, got, want)
		}
	}
}

func TestParseSpecRejects(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		`x`, `{`, `[]`, `null`, `"{}"`, `1`, `{}{}`, `{} x`, `{"minYes":1,}`, `{"minYes":}`, `{minYes:1}`,
		`{"minYes":"40"}`, `{"minYes":null}`, `{"minYes":true}`, `{"minYes":[1]}`, `{"minYes":-1}`, `{"maxYes":100.5}`,
		`{"minVolume":-1}`, `{"minVolume":1e999}`, `{"maxVolume":{}}`,
		`{"maxResolveHours":0}`, `{"maxResolveHours":8761}`, `{"maxResolveHours":-3}`,
		`{"topPerCategory":0}`, `{"topPerCategory":51}`, `{"topPerCategory":1.5}`, `{"topPerCategory":"12"}`,
		`{"categories":"sports"}`, `{"categories":[1]}`, `{"categories":{}}`, `{"categories":null}`, `{"categories":[null]}`,
		`{"categories":["` + strings.Repeat(`a","`, 20) + `b"]}`,
		`{"minYes":60,"maxYes":40}`, `{"minVolume":2,"maxVolume":1}`, `{"minYes":1,"minYes":2}`,
		`{"minYes":1,"pad":"` + strings.Repeat("x", 2048-20) + `"}`,
	} {
		if s, err := ParseSpec(in); !errors.Is(err, ErrSpec) {
			t.Errorf("%.60s: got %s, %v, want invalid_spec", in, s.Canonical(), err)
		}
	}
}

func drawSpec(t *rapid.T) Spec {
	var parts []string
	add := func(name, value string) {
		if rapid.Bool().Draw(t, name) {
			parts = append(parts, fmt.Sprintf("%q:%s", name, value))
		}
	}
	low, high := rapid.Float64Range(0, 50).Draw(t, "low"), rapid.Float64Range(50, 100).Draw(t, "high")
	add("categories", fmt.Sprintf(`["%s","%s"]`,
		rapid.SampledFrom(Lanes()).Draw(t, "lane"), rapid.SampledFrom(Lanes()).Draw(t, "lane")))
	add("minVolume", fmt.Sprint(low*1000))
	add("maxVolume", fmt.Sprint(high*1e9))
	add("minYes", fmt.Sprint(low))
	add("maxYes", fmt.Sprint(high))
	add("maxResolveHours", fmt.Sprint(high*10))
	add("topPerCategory", fmt.Sprint(rapid.IntRange(1, maxTop).Draw(t, "top")))
	s, err := ParseSpec("{" + strings.Join(parts, ",") + "}")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCanonicalRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpec(t)
		back, err := ParseSpec(s.Canonical())
		if err != nil || back != s {
			t.Fatalf("%s is parsed as %s, %v", s.Canonical(), back.Canonical(), err)
		}
		for _, p := range Presets {
			q := NewQuery(p, s, nil, DefaultLanes())
			if err := q.Spec.check(); err != nil {
				t.Fatalf("%s over %s: %v", s.Canonical(), p, err)
			}
			if again := NewQuery(p, q.Spec, nil, DefaultLanes()); again.Spec != q.Spec {
				t.Fatalf("merging %s with preset %s twice gives a different spec", s.Canonical(), p)
			}
		}
	})
}

func TestSpecOverPreset(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		preset Preset
		spec   string
		want   string
	}{
		{Default, ``, `{"categories":["sports","music","film","tv","fashion","crypto"],"minVolume":1000,"topPerCategory":12}`},
		{Default, `{"categories":["science"]}`, `{"categories":["science"],"minVolume":1000,"topPerCategory":12}`},
		{Default, `{"maxVolume":500,"categories":["tv"]}`, `{"categories":["tv"],"maxVolume":500,"topPerCategory":12}`},
		{Hot, `{"topPerCategory":2}`, `{"minVolume":10000,"topPerCategory":2}`},
		{Resolving, `{}`, `{"maxResolveHours":24,"topPerCategory":12}`},
		{Close, `{"minYes":70}`, `{"minVolume":1000,"minYes":70,"topPerCategory":12}`},
		{Close, `{"maxYes":10}`, `{"minVolume":1000,"maxYes":10,"topPerCategory":12}`},
	} {
		s, err := ParseSpec(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		q := NewQuery(c.preset, s, nil, DefaultLanes())
		if got := q.Spec.Canonical(); got != c.want {
			t.Errorf("%s over %s: %s, want %s", c.spec, c.preset, got, c.want)
		}
	}
}
