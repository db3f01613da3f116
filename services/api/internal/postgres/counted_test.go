package postgres

import (
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// facts contains the stored facts that decide whether a call counts, apart from its operator and its market.
type facts struct{ verified, rated, confirmed bool }

// countable contains the facts of a call that counts if it is won or lost.
var countable = facts{verified: true, rated: true, confirmed: true}

// setFacts changes a stored call so that it has the given facts.
func (b *bundle) setFacts(id string, f facts) {
	b.t.Helper()
	b.exec(`ALTER TABLE api.signals DISABLE TRIGGER no_change`)
	b.exec(`UPDATE api.signals SET price_verified = $2, rated = $3,
		quote_at = CASE WHEN $2 AND market_id NOT LIKE 'native-%' THEN created_at END,
		score_basis_bps = CASE WHEN $2 THEN score_basis_bps ELSE price_bps END WHERE id = $1`, id, f.verified, f.rated)
	b.exec(`ALTER TABLE api.signals ENABLE ALWAYS TRIGGER no_change`)
	at := []time.Duration{0}
	if f.confirmed {
		at = append(at, 6*time.Second)
	}
	for _, after := range at { // quotes at the scoring price
		b.exec(`INSERT INTO api.quotes (market_id, at, yes_price_bps, no_price_bps, rule)
			SELECT market_id, created_at + $2, greatest(1, least(9999, CASE WHEN yes THEN score_basis_bps ELSE 10000 - score_basis_bps END)),
				greatest(1, least(9999, CASE WHEN yes THEN 10000 - score_basis_bps ELSE score_basis_bps END)), 'test'
			FROM api.signals WHERE id = $1 AND quote_at IS NOT NULL ON CONFLICT DO NOTHING`, id, after)
	}
}

// fileCounted files a call that counts if it is won or lost, and advances the clock past the time of its second quote.
func (b *bundle) fileCounted(hash []byte, market string, side protocol.Side, price int) string {
	b.t.Helper()
	id := b.file(hash, market, side, price)
	b.setFacts(id, countable)
	b.clock.Advance(10 * time.Second)
	return id
}
