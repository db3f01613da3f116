package simtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/universe"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

// Noon is where the clock of every bench starts.
var Noon = time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)

// Bench is a world with a venue on it.
type Bench struct {
	World *world.World
	Venue http.Handler

	mu  sync.Mutex
	now time.Time
}

// New builds a bench over an invented universe of that size; venue makes the
// venue of its world.
func New(size int, venue func(*world.World) http.Handler) *Bench {
	b := &Bench{now: Noon}
	b.World = world.New(universe.Sized(7, size), 7, b.Now)
	b.Venue = venue(b.World)
	return b
}

// Now is the clock of the bench.
func (b *Bench) Now() time.Time { b.mu.Lock(); defer b.mu.Unlock(); return b.now }

// Pass moves the clock.
func (b *Bench) Pass(d time.Duration) { b.mu.Lock(); b.now = b.now.Add(d); b.mu.Unlock() }

// Create makes a market; what the draft leaves out is filled in.
func (b *Bench) Create(t *testing.T, d world.Draft) int64 {
	t.Helper()
	if d.Question == "" {
		d.Question = "Will the invented lighthouse be lit?"
	}
	if d.Price == 0 {
		d.Price = 615_000
	}
	if d.End.IsZero() {
		d.End = b.Now().Add(48 * time.Hour)
	}
	d.Outcomes, d.Volume, d.Description = []string{"Yes", "No"}, 25_000, "Invented rules."
	if d.Tags == nil {
		d.Tags = []world.Tag{{ID: "2", Label: "World", Slug: "world"}}
	}
	id, err := b.World.Create(d)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// Change changes a market.
func (b *Bench) Change(t *testing.T, id int64, c world.Change) {
	t.Helper()
	if err := b.World.Change(id, c); err != nil {
		t.Fatal(err)
	}
}

// Get reads a path of the venue and decodes its JSON.
func (b *Bench) Get(t *testing.T, path string, status int) any {
	t.Helper()
	rec := httptest.NewRecorder()
	b.Venue.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, nil))
	if rec.Code != status {
		t.Fatalf("%s: status %d, want %d: %.300s", path, rec.Code, status, rec.Body)
	}
	if got := rec.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("%s: content type %q", path, got)
	}
	var v any
	if err := json.Unmarshal(rec.Body.Bytes(), &v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return v
}

// Object reads a path that answers with an object.
func (b *Bench) Object(t *testing.T, path string) map[string]any {
	t.Helper()
	v, ok := b.Get(t, path, http.StatusOK).(map[string]any)
	if !ok {
		t.Fatalf("%s: not an object", path)
	}
	return v
}

// List reads a path that answers with a list.
func (b *Bench) List(t *testing.T, path string) []any {
	t.Helper()
	v, ok := b.Get(t, path, http.StatusOK).([]any)
	if !ok {
		t.Fatalf("%s: not a list", path)
	}
	return v
}

// At steps into objects by member names and into lists by their first element.
func At(v any, path ...string) any {
	for _, name := range path {
		if list, ok := v.([]any); ok && len(list) > 0 {
			v = list[0]
		}
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

// Sample reads testdata/name.json.
func Sample(t *testing.T, name string) any {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

// SameForm compares an answer with a sample. optional names members that only
// one of the two may have.
func SameForm(t *testing.T, name string, got any, optional ...string) {
	t.Helper()
	for _, f := range Differences(Sample(t, name), got, optional...) {
		t.Errorf("%s%s", name, f)
	}
}

// Differences tells members and JSON types that differ.
func Differences(want, got any, optional ...string) []string {
	return differ("", want, got, optional)
}

func differ(path string, want, got any, optional []string) (faults []string) {
	if kindOf(want) != kindOf(got) {
		return []string{fmt.Sprintf("%s: %s, want %s", path, kindOf(got), kindOf(want))}
	}
	switch w := want.(type) {
	case map[string]any:
		g := got.(map[string]any)
		for key, value := range w {
			if have, ok := g[key]; ok {
				faults = append(faults, differ(path+"."+key, value, have, optional)...)
			} else if !slices.Contains(optional, key) {
				faults = append(faults, path+"."+key+" is missing")
			}
		}
		for key := range g {
			if _, ok := w[key]; !ok && !slices.Contains(optional, key) {
				faults = append(faults, path+"."+key+" is not in the sample")
			}
		}
	case []any:
		g := got.([]any)
		if len(w) > 0 && len(g) == 0 {
			return []string{path + ": empty"}
		}
		if len(w) > 0 {
			faults = append(faults, differ(path+"[0]", w[0], g[0], optional)...)
		}
	}
	return faults
}

// Equal compares an answer with a sample value by value.
func Equal(t *testing.T, name string, got any) {
	t.Helper()
	want, err1 := json.Marshal(Sample(t, name))
	have, err2 := json.Marshal(got)
	if err1 != nil || err2 != nil || string(want) != string(have) {
		t.Errorf("%s: %s, want %s", name, have, want)
	}
}

// Rush reads the paths again and again from several sides at once, while
// markets come and change, and fails on any answer that is not 200.
func (b *Bench) Rush(t *testing.T, paths ...string) {
	t.Helper()
	id := b.Create(t, world.Draft{})
	var wait sync.WaitGroup
	for i, path := range paths {
		for range 6 {
			wait.Go(func() {
				for range 10 {
					rec := httptest.NewRecorder()
					b.Venue.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, nil))
					if rec.Code != http.StatusOK {
						t.Errorf("%s: %d %.200s", path, rec.Code, rec.Body)
					}
				}
			})
		}
		wait.Go(func() {
			for n := range 10 {
				p := world.Micros(100_000 + 10_000*n + i)
				if err := b.World.Change(id, world.Change{Price: &p}); err != nil {
					t.Error(err)
				}
				if _, err := b.World.Create(world.Draft{Question: strings.Repeat("q", n+1), Outcomes: []string{"Yes", "No"}, End: b.Now().Add(time.Hour), Price: p}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "bool"
	case float64:
		return "number"
	case string:
		return "string"
	case []any:
		return "list"
	}
	return "object"
}
