package venue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
)

var errNoList = errors.New("the response has no list")

// ReadList reads a JSON response into box. list must be the address of a member of box that contains the list. The error is
// market.ErrUnavailable if the request fails, or if the response cannot be decoded or has no such list.
func ReadList[T any](ctx context.Context, c *Client, op, path string, query url.Values, box any, list **[]T) (Answer, error) {
	answer, err := c.Read(ctx, op, path, query)
	if err != nil {
		return answer, Unavailable(err)
	}
	if err := json.Unmarshal(answer.Body, box); err != nil || *list == nil {
		return answer, Unavailable(fmt.Errorf("decode %s: %w", op, errors.Join(err, errNoList)))
	}
	return answer, nil
}

// Unavailable returns err if it wraps market.ErrUnavailable, and otherwise market.ErrUnavailable with the cause err.
func Unavailable(err error) error {
	if errors.Is(err, market.ErrUnavailable) {
		return err
	}
	return market.ErrUnavailable.Wrap(err)
}

// Missing reports whether err is a *RefusedError with status 404 or one of the given statuses, which means that there is no
// such market.
func Missing(err error, statuses ...int) bool {
	var refused *RefusedError
	return errors.As(err, &refused) && (refused.Status == http.StatusNotFound || slices.Contains(statuses, refused.Status))
}

// NativeKey returns the key that provider p itself uses for a market. ok is false if id is invalid or belongs to another
// provider.
func NativeKey(p protocol.Provider, id protocol.MarketID) (key string, ok bool) {
	parsed, err := protocol.ParseMarketID(string(id))
	if err != nil || parsed.Provider() != p {
		return "", false
	}
	return parsed.NativeKey(), true
}

// Settle sets the final result of a market. payout is the amount that one YES share pays, as decimal text, or "" if it is
// unknown.
func Settle(m *market.Record, verdict protocol.Verdict, payout string) {
	m.Status, m.Provisional, m.Verdict = protocol.MarketResolved, false, &verdict
	if payout != "" {
		m.Payout = &payout
	}
}

// Records decodes the market records of one provider and counts the records that it omits.
type Records[T any] struct {
	Client *Client
	Decode func(json.RawMessage) (T, error)
	Key    func(*T) string
	// Unusable returns why no call is possible on the market of a record, as a label value of the metric
	// venue_dropped_records_total. It returns "" if a call is possible.
	Unusable func(*T) string
}

// One decodes the record of the market with the given key. err is the error of the request, or nil. Errors:
// market.ErrNotFound if there is no such market, or if the record is unusable or belongs to another market;
// market.ErrUnavailable otherwise.
func (r *Records[T]) One(key string, raw []byte, err error) (o T, _ error) {
	switch {
	case Missing(err):
		return o, market.ErrNotFound
	case err != nil:
		return o, Unavailable(err)
	}
	if o, err = r.Decode(raw); err != nil {
		r.Client.Dropped("undecodable")
		return o, Unavailable(fmt.Errorf("decode market %s: %w", key, err))
	}
	if r.Key(&o) != key {
		r.Client.Dropped("another_market")
		return o, market.ErrNotFound // no market has an id with this exact spelling
	}
	if !r.Usable(&o) {
		return o, market.ErrNotFound
	}
	return o, nil
}

// Usable reports whether a call is possible on the market of a record. It counts each unusable record.
func (r *Records[T]) Usable(o *T) bool {
	reason := r.Unusable(o)
	if reason != "" {
		r.Client.Dropped(reason)
	}
	return reason == ""
}

// List reads a list of records as ReadList does, and decodes it as All does.
func (r *Records[T]) List(
	ctx context.Context, op, path string, query url.Values, box any, list **[]json.RawMessage,
) (Answer, []T, error) {
	answer, err := ReadList(ctx, r.Client, op, path, query, box, list)
	if err != nil {
		return answer, nil, err
	}
	records, err := r.All(**list)
	return answer, records, err
}

// All decodes a list of records. It omits and counts records that cannot be decoded. The error is market.ErrUnavailable if
// the list is not empty and none of its records can be decoded.
func (r *Records[T]) All(raw []json.RawMessage) ([]T, error) {
	list := make([]T, 0, len(raw))
	for _, one := range raw {
		o, err := r.Decode(one)
		if err != nil {
			r.Client.Dropped("undecodable")
			continue
		}
		list = append(list, o)
	}
	if len(raw) > 0 && len(list) == 0 {
		return nil, Unavailable(fmt.Errorf("none of the %d records can be decoded", len(raw)))
	}
	return list, nil
}

// Cursor returns the cursor of a page. page is the number of the page, which is 1 for the page after the first one. after is
// the position after which the page starts.
func Cursor(page int, after string) string { return strconv.Itoa(page) + ":" + after }

// ReadCursor parses a cursor. An empty cursor means page 0, the first page. The number of a page must be below limit, so
// that every list ends. Error: market.ErrUnavailable if the cursor is invalid.
func ReadCursor(cursor string, limit int) (page int, after string, err error) {
	if cursor == "" {
		return 0, "", nil
	}
	number, after, ok := strings.Cut(cursor, ":")
	page, err = strconv.Atoi(number)
	if !ok || err != nil || page < 1 || page >= limit || after == "" {
		return 0, "", badCursor(cursor)
	}
	return page, after, nil
}

// ReadNumberCursor is like ReadCursor, for a position that is a positive number.
func ReadNumberCursor(cursor string, limit int) (page int, after int64, err error) {
	page, text, err := ReadCursor(cursor, limit)
	if err != nil || page == 0 {
		return 0, 0, err
	}
	if after, err = strconv.ParseInt(text, 10, 64); err != nil || after < 1 {
		return 0, 0, badCursor(cursor)
	}
	return page, after, nil
}

func badCursor(cursor string) error {
	return Unavailable(fmt.Errorf("cursor %.40q is invalid", cursor))
}
