package venue

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// maxWords is the largest number of distinct words that are used as label values of the metric venue_unknown_words_total.
const maxWords = 32

// Meter records metrics of requests to the venues and of their responses.
type Meter struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	words    *prometheus.CounterVec
	dropped  *prometheus.CounterVec

	mu    sync.Mutex
	known map[[3]string]bool
}

// NewMeter returns a meter and registers its metrics with reg.
func NewMeter(reg prometheus.Registerer) *Meter {
	m := &Meter{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "venue_requests_total", Help: "Requests to market venues by result.",
		}, []string{"provider", "op", "result"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "venue_request_seconds", Help: "Time until a venue's answer was read.", Buckets: prometheus.ExponentialBuckets(0.01, 2.5, 9),
		}, []string{"provider", "op"}),
		words: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "venue_unknown_words_total", Help: "Status words of venues that no rule knows.",
		}, []string{"provider", "field", "word"}),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "venue_dropped_records_total", Help: "Records of venues that could not be used.",
		}, []string{"provider", "reason"}),
		known: map[[3]string]bool{},
	}
	reg.MustRegister(m.requests, m.seconds, m.words, m.dropped)
	return m
}

// UnknownWord counts a word in a field of a response that no rule handles. A word of more than 40 bytes is counted as "…". So
// is each new word after the first maxWords.
func (m *Meter) UnknownWord(provider, field, word string) {
	m.mu.Lock()
	key := [3]string{provider, field, word}
	if !m.known[key] {
		if len(m.known) >= maxWords || len(word) > 40 {
			word = "…"
		} else {
			m.known[key] = true
		}
	}
	m.mu.Unlock()
	m.words.WithLabelValues(provider, field, word).Inc()
}

// Dropped counts a record of a provider that was omitted, by reason.
func (m *Meter) Dropped(provider, reason string) {
	m.dropped.WithLabelValues(provider, reason).Inc()
}

func (m *Meter) request(provider, op, result string, took time.Duration) {
	m.requests.WithLabelValues(provider, op, result).Inc()
	m.seconds.WithLabelValues(provider, op).Observe(took.Seconds())
}
