package program

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func parse(raw string) Query {
	v, err := url.ParseQuery(raw)
	if err != nil {
		panic(err)
	}
	return ParseQuery(v.Get)
}

func TestParseQuery(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]Query{
		"":                                {Preset: "default", Limit: 200, Lanes: true},
		"preset=hot&lanes=0&limit=7":      {Preset: "hot", Limit: 7},
		"preset=HOT&lanes=1&limit=-1":     {Preset: "default", Limit: 200, Lanes: true},
		"limit=401":                       {Preset: "default", Limit: 400, Lanes: true},
		"providers=manual,x,polymarket":   {Preset: "default", Providers: "polymarket,manual", Limit: 200, Lanes: true},
		"categories=Science,science,news": {Preset: "default", Spec: `{"categories":["news","science"]}`, Limit: 200, Lanes: true},
		"categories=nonsense":             {Preset: "default", Limit: 200, Lanes: true},
		"minVolume=abc&maxYes=101&maxResolveHours=0&topPerCategory=1.5&minYes=-1": {Preset: "default", Limit: 200, Lanes: true},
		"minVolume=NaN&maxVolume=Inf":                         {Preset: "default", Limit: 200, Lanes: true},
		"minVolume=10&maxVolume=5":                            {Preset: "default", Spec: `{"minVolume":10}`, Limit: 200, Lanes: true},
		"topPerCategory=12":                                   {Preset: "default", Spec: `{"topPerCategory":12}`, Limit: 200, Lanes: true},
		`spec={"minYes":40,"maxYes":60,"junk":[1]}&minYes=45`: {Preset: "default", Spec: `{"minYes":45,"maxYes":60}`, Limit: 200, Lanes: true},
		`spec={"minYes":"40","categories":"tv"}`:              {Preset: "default", Limit: 200, Lanes: true},
		`spec={"categories":["tv",7,"TV"]}&categories=music`:  {Preset: "default", Spec: `{"categories":["music"]}`, Limit: 200, Lanes: true},
		"spec=[1]":    {Preset: "default", Limit: 200, Lanes: true},
		"spec=null":   {Preset: "default", Limit: 200, Lanes: true},
		"spec=broken": {Preset: "default", Limit: 200, Lanes: true},
	} {
		if got := parse(strings.ReplaceAll(raw, `"`, "%22")); got != want {
			t.Errorf("%s: %+v", raw, got)
		}
	}
}

// TestSpecIsAlwaysGood checks that each query results in a filter that the clock accepts.
func TestSpecIsAlwaysGood(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		given := rapid.MapOf(rapid.SampledFrom([]string{
			"spec", "categories", "minVolume", "maxVolume", "minYes", "maxYes", "maxResolveHours", "topPerCategory", "limit", "preset",
		}), rapid.OneOf(rapid.String(), rapid.Map(rapid.Float64(), func(f float64) string {
			b, _ := json.Marshal(f)
			return string(b)
		}), rapid.Just(`{"minYes":70,"maxYes":20,"topPerCategory":1e9}`))).Draw(t, "query")
		q := ParseQuery(func(name string) string { return given[name] })
		if q.Limit < 1 || q.Limit > MaxLimit || len(q.Spec) > maxSpec {
			t.Fatalf("%+v", q)
		}
		if q.Spec == "" {
			return
		}
		var f filter
		if err := json.Unmarshal([]byte(q.Spec), &f); err != nil {
			t.Fatal(err)
		}
		for name, m := range f.members() {
			if n := *m.at; n != nil && (*n < m.low || *n > m.high) {
				t.Fatalf("%s is %v", name, *n)
			}
		}
		if f.MinYes != nil && f.MaxYes != nil && *f.MinYes > *f.MaxYes || f.MinVolume != nil && f.MaxVolume != nil && *f.MinVolume > *f.MaxVolume {
			t.Fatalf("%s", q.Spec)
		}
	})
}
