package main

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// keyPattern matches a valid Idempotency-Key.
var keyPattern = regexp.MustCompile(`^[!-~]{1,64}$`)

var errPrice = errors.New("price must be a number of cents from 0 to 100")

// draft is the body of POST /api/protocol/v1/signals. Without a price, the hub uses the current price of the side.
type draft struct {
	MarketID string `json:"marketId"`
	Position string `json:"position"`
	PriceBps *int   `json:"priceBps,omitempty"`
	Take     string `json:"take,omitempty"`
}

// submitCall handles the form that files a call for the signed-in person. It redirects the browser to the receipt of the call.
func (a *app) submitCall(w http.ResponseWriter, r *http.Request) {
	s := a.sessions.find(r)
	typed := map[string]string{}
	for _, name := range []string{"market", "price", "take"} {
		typed[name] = strings.TrimSpace(r.PostFormValue(name))
	}
	d := draft{MarketID: typed["market"], Position: r.PostFormValue("side"), Take: typed["take"]}
	price, err := parseCents(typed["price"])
	if err != nil {
		a.showError(w, s, err, typed)
		return
	}
	d.PriceBps = price
	key := r.PostFormValue("key")
	if !keyPattern.MatchString(key) { // the key is sent as a header
		key = random()
	}
	id := ""
	err = a.withToken(r.Context(), s, func(bearer string) (err error) {
		id, err = a.file(r.Context(), bearer, key, d)
		return err
	})
	if err != nil {
		a.showError(w, s, err, typed)
		return
	}
	http.Redirect(w, r, "/receipt/"+url.PathEscape(id), http.StatusSeeOther) // reloading the receipt files no call
}

// file files a call and returns its id. If a request gets no response, it repeats the request once. The repetition files no
// second call, because it has the same idempotency key.
func (a *app) file(ctx context.Context, bearer, key string, d draft) (string, error) {
	var filed struct {
		ID string `json:"id"`
	}
	q := request{bearer: bearer, key: key, body: d}
	err := a.sendJSON(ctx, http.MethodPost, "/api/protocol/v1/signals", q, &filed)
	if failure := (hubError{}); err != nil && !errors.As(err, &failure) {
		err = a.sendJSON(ctx, http.MethodPost, "/api/protocol/v1/signals", q, &filed)
	}
	return filed.ID, err
}

// parseCents converts a price in cents to basis points. It returns nil for an empty text, and errPrice unless the price is a
// number from 0 to 100.
func parseCents(cents string) (*int, error) {
	if cents == "" {
		return nil, nil
	}
	f, err := strconv.ParseFloat(cents, 64)
	if err != nil || !(f >= 0 && f <= 100) { // the negated condition also rejects NaN
		return nil, errPrice
	}
	n := int(math.Round(f * 100))
	return &n, nil
}

// receipt contains the data of a call that the page shows. Calls are public, so reading one requires no token.
type receipt struct {
	ID, Market, Side, Price, Status, Link string
	Score                                 *int
}

func (a *app) receipt(w http.ResponseWriter, r *http.Request) {
	s := a.sessions.find(r)
	var signal struct {
		ID        string `json:"id"`
		MarketID  string `json:"marketId"`
		Title     string `json:"marketTitle"`
		Direction string `json:"direction"`
		Price     int    `json:"priceAtPrediction"`
		Status    string `json:"status"`
		Score     *int   `json:"score"`
	}
	err := a.sendJSON(r.Context(), http.MethodGet, "/api/signals/"+url.PathEscape(r.PathValue("id")), request{}, &signal)
	if err != nil {
		a.showError(w, s, err, nil)
		return
	}
	a.show(w, http.StatusOK, s, view{Receipt: &receipt{
		ID: signal.ID, Market: cmp.Or(signal.Title, signal.MarketID), Side: signal.Direction, Status: signal.Status, Score: signal.Score,
		Price: strconv.FormatFloat(float64(signal.Price)/100, 'f', -1, 64), Link: a.Hub + "/receipts/" + url.PathEscape(signal.ID),
	}})
}
