package apitest

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
)

// Exec executes an SQL statement as the administrator, in the schema api. An error ends the test.
func (a *API) Exec(sql string, args ...any) {
	a.t.Helper()
	if _, err := a.DB.Exec(a.t.Context(), sql, args...); err != nil {
		a.t.Fatalf("%s: %v", sql, err)
	}
}

// Get returns the only value of an SQL query with one row and one column. An error ends the test.
func Get[T any](a *API, sql string, args ...any) (v T) {
	a.t.Helper()
	if err := a.DB.QueryRow(a.t.Context(), sql, args...).Scan(&v); err != nil {
		a.t.Fatalf("%s: %v", sql, err)
	}
	return v
}

// id returns a new UUID. UUIDs are the same in every run, and sort in the order of their creation.
func (a *API) id() string {
	a.ids++
	return fmt.Sprintf("0199f0f0-0000-7000-8000-%012d", a.ids)
}

// AddOperator stores an operator with this handle and returns it. The identity of the operator has the issuer
// https://issuer.example and the subject did:idp:<handle>.
func (a *API) AddOperator(handle string) *operatorv1.Operator {
	a.t.Helper()
	o := &operatorv1.Operator{
		Id: a.id(), Issuer: "https://issuer.example", ProviderId: "did:idp:" + handle, Handle: handle,
		PublicId: string(protocol.NewPublicID(Mask, "did:idp:"+handle)), DisplayName: strings.ToUpper(handle),
		OperatorType: "human", Tier: "independent",
	}
	a.Exec(`WITH u AS (
		INSERT INTO users (id, issuer, provider_id, public_id, handle, display_name, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id
	), s AS (INSERT INTO operator_scores (user_id) SELECT id FROM u) INSERT INTO operator_totals (user_id) SELECT id FROM u`,
		o.GetId(), o.GetIssuer(), o.GetProviderId(), o.GetPublicId(), o.GetHandle(), o.GetDisplayName(), a.now())
	return o
}

// AddKey stores an operator key with every permission and returns its plaintext. owner is the id of the operator.
func (a *API) AddKey(owner string) string {
	a.t.Helper()
	sum := sha256.Sum256([]byte(owner + a.id()))
	key := "dk_" + base64.RawURLEncoding.EncodeToString(sum[:])
	hash := sha256.Sum256([]byte(key))
	a.Exec(`INSERT INTO operator_keys (id, user_id, hash, prefix, last4, label, permissions, created_at)
		VALUES ($1, $2, $3, 'dk_', $4, 'test', '{read,signal,broadcast}', $5)`, a.id(), owner, hash[:], key[len(key)-4:], a.now())
	return key
}

// Market is a market that AddMarket stores, as if the api had read it from its venue. If its id begins with native-, it is a
// native market that an administrator has created.
type Market struct {
	ID, Title, Description, Slug, EventKey, Token, Lane, Category, URL string

	Status     string // empty: open
	End        time.Time
	Yes        int // middle price of YES in bps; 0: none
	YesPrice   int // prices of YES and NO in bps, quoted now; 0: no quote
	NoPrice    int
	Volume     float64 // in USD; 0: unknown, or 0 for a native market
	Volume24h  float64
	Liquidity  float64
	Read       time.Time // time of the newest answer of the venue; zero: now
	Created    time.Time // zero: now
	ResolvesBy time.Time
	Source     string // where the outcome of a native market is published
}

// AddMarket stores a market with its newest price. The prefix of the market id determines the provider.
func (a *API) AddMarket(m Market) {
	a.t.Helper()
	provider := protocol.MarketID(m.ID).Provider()
	figure := func(f float64) *float64 {
		if provider == protocol.Manual {
			return &f
		}
		return httpx.OrNull(f)
	}
	read, created := cmp.Or(m.Read, a.now()), cmp.Or(m.Created, a.now())
	fetched, prior, creator := &read, (*int)(nil), (*string)(nil)
	if provider == protocol.Manual {
		admin := "admin"
		fetched, prior, creator = nil, httpx.OrNull(m.Yes), &admin
	}
	a.Exec(`INSERT INTO markets (market_id, provider, title, description, status, end_date, lane, category, slug,
			event_key, clob_token_id, resolves_by, resolution_source, initial_yes_bps, created_by, fetched_at, created_at, updated_at,
			url)
		VALUES ($1, $2, $3, $4, $5, $6, coalesce($7, 'OTHER'), $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`,
		m.ID, string(provider), m.Title, m.Description, cmp.Or(m.Status, "open"), httpx.OrNull(m.End), httpx.OrNull(m.Lane), m.Category,
		m.Slug, m.EventKey, m.Token, httpx.OrNull(m.ResolvesBy), httpx.OrNull(m.Source), prior, creator, fetched, created, read, m.URL)
	a.Exec(`INSERT INTO market_quotes (market_id, yes_bps, at, volume, volume_usd, volume24h, liquidity)
		VALUES ($1, $2, $3, $4, $4, $5, $6)`,
		m.ID, httpx.OrNull(m.Yes), read, figure(m.Volume), figure(m.Volume24h), figure(m.Liquidity))
	if m.Yes != 0 {
		a.Exec(`INSERT INTO market_prices (market_id, at, yes_bps) VALUES ($1, $2, $3)`, m.ID, read, m.Yes)
	}
	if m.YesPrice != 0 {
		a.Quote(m.ID, m.YesPrice, m.NoPrice)
	}
}

// Quote stores the current prices of both sides of a market, in bps. If yes is 0, it removes the quote and calls FailVenue,
// so that the api cannot get another quote.
func (a *API) Quote(market string, yes, no int) {
	a.t.Helper()
	if yes == 0 {
		a.FailVenue()
		a.Exec(`UPDATE market_quotes SET yes_price_bps = NULL, no_price_bps = NULL, quoted_at = NULL, quote_rule = NULL
			WHERE market_id = $1`, market)
		return
	}
	a.Exec(`UPDATE market_quotes SET yes_price_bps = $2, no_price_bps = $3, quoted_at = $4, quote_rule = 'test'
		WHERE market_id = $1`,
		market, yes, no, a.now())
}
