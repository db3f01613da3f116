package search_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/search"
)

// BenchmarkFind searches 50,000 markets whose words are as often as words are,
// with queries from a single letter to a typo, and reports the slowest hundredth.
func BenchmarkFind(b *testing.B) {
	const markets, vocabulary = 50_000, 30_000
	r := rand.New(rand.NewPCG(1, 2))
	often := rand.NewZipf(r, 1.1, 4, vocabulary-1)
	known := make([]string, vocabulary)
	for i := range known {
		letters := make([]byte, 3+r.IntN(8))
		for j := range letters {
			letters[j] = "eeetaoinshrdlucmwfgypbvkjxqz"[r.IntN(28)]
		}
		known[i] = string(letters)
	}
	docs := make([]search.Doc, markets)
	for i := range docs {
		title := []string{"Will", "the"}
		for range 9 {
			title = append(title, known[often.Uint64()])
		}
		docs[i] = doc(fmt.Sprint(500_000+i), strings.Join(title, " "), strings.Join(title[2:6], "-"), r.ExpFloat64()*1e5)
	}
	x := search.NewIndex()
	start := time.Now()
	x.Put(docs)
	built := time.Since(start)
	for name, q := range map[string]func() search.Query{
		"mixed": func() search.Query {
			a, c := known[often.Uint64()], known[r.IntN(vocabulary)]
			return search.Query{Text: []string{"", "w", "the", a, a + " " + c, c[:3], c[1:] + "x", "will the " + a + " " + c}[r.IntN(8)]}
		},
		"everything": func() search.Query { return search.Query{} },
		"letter":     func() search.Query { return search.Query{Text: "t"} },
		"words":      func() search.Query { return search.Query{Text: "will the " + known[often.Uint64()]} },
		"typo":       func() search.Query { return search.Query{Text: known[r.IntN(vocabulary)] + "q"} },
		"twelve":     func() search.Query { return search.Query{Text: strings.Join(known[:12], " ")} },
	} {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				one := q()
				start := time.Now()
				x.Find(one)
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
		})
	}
	b.Logf("%d markets put in %s", markets, built)
}
