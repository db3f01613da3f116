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

var keyForm = regexp.MustCompile(`^[!-~]{1,64}$`)

var errPrice = errors.New("a price is a number of cents from 0 to 100")

// draft is the body of POST /api/protocol/v1/signals. Without a price the hub takes the
// newest one of the side called.
type draft struct {
	MarketID string `json:"marketId"`
	Position string `json:"position"`
	PriceBps *int   `json:"priceBps,omitempty"`
	Take     string `json:"take,omitempty"`
}

// call files what the form says, for the person who is signed in.
func (a *app) call(w http.ResponseWriter, r *http.Request) {
	s := a.sessions.of(r)
	typed := map[string]string{}
	for _, name := range []string{"market", "price", "take"} {
		typed[name] = strings.TrimSpace(r.PostFormValue(name))
	}
	d := draft{MarketID: typed["market"], Position: r.PostFormValue("side"), Take: typed["take"]}
	price, err := bps(typed["price"])
	if err != nil {
		a.fail(w, s, err, typed)
		return
	}
	d.PriceBps = price
	key := r.PostFormValue("key")
	if !keyForm.MatchString(key) { // it becomes a header
		key = random()
	}
	id := ""
	err = a.act(r.Context(), s, func(bearer string) (err error) {
		id, err = a.file(r.Context(), bearer, key, d)
		return err
	})
	if err != nil {
		a.fail(w, s, err, typed)
		return
	}
	http.Redirect(w, r, "/receipt/"+url.PathEscape(id), http.StatusSeeOther) // reloading it files nothing
}

// file asks once more when no answer came: with the same key it is the same call.
func (a *app) file(ctx context.Context, bearer, key string, d draft) (string, error) {
	var filed struct {
		ID string `json:"id"`
	}
	q := request{bearer: bearer, key: key, body: d}
	err := a.ask(ctx, http.MethodPost, "/api/protocol/v1/signals", q, &filed)
	if no := (refusal{}); err != nil && !errors.As(err, &no) {
		err = a.ask(ctx, http.MethodPost, "/api/protocol/v1/signals", q, &filed)
	}
	return filed.ID, err
}

// bps reads cents as hundredths of a cent; nothing is no price.
func bps(cents string) (*int, error) {
	if cents == "" {
		return nil, nil
	}
	f, err := strconv.ParseFloat(cents, 64)
	if err != nil || !(f >= 0 && f <= 100) { // NaN is neither
		return nil, errPrice
	}
	n := int(math.Round(f * 100))
	return &n, nil
}

// receipt is what is shown of a call. Calls are public: reading one needs no token.
type receipt struct {
	ID, Market, Side, Price, Status, Link string
	Score                                 *int
}

func (a *app) receipt(w http.ResponseWriter, r *http.Request) {
	s := a.sessions.of(r)
	var signal struct {
		ID        string `json:"id"`
		MarketID  string `json:"marketId"`
		Title     string `json:"marketTitle"`
		Direction string `json:"direction"`
		Price     int    `json:"priceAtPrediction"`
		Status    string `json:"status"`
		Score     *int   `json:"score"`
	}
	err := a.ask(r.Context(), http.MethodGet, "/api/signals/"+url.PathEscape(r.PathValue("id")), request{}, &signal)
	if err != nil {
		a.fail(w, s, err, nil)
		return
	}
	a.show(w, http.StatusOK, s, view{Receipt: &receipt{
		ID: signal.ID, Market: cmp.Or(signal.Title, signal.MarketID), Side: signal.Direction, Status: signal.Status, Score: signal.Score,
		Price: strconv.FormatFloat(float64(signal.Price)/100, 'f', -1, 64), Link: a.Hub + "/receipts/" + url.PathEscape(signal.ID),
	}})
}
