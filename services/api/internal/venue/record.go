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

var errNoList = errors.New("the answer has no list")

// ReadList reads a JSON answer into box, which must set list to a list in it. It returns market.ErrUnavailable for a
// failed request, for an answer of another form and for an answer without the list.
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

// Unavailable returns err wrapped in market.ErrUnavailable, unless it already is.
func Unavailable(err error) error {
	if errors.Is(err, market.ErrUnavailable) {
		return err
	}
	return market.ErrUnavailable.Wrap(err)
}

// Missing reports whether err is an answer with status 404 or one of the given statuses, which means that there is no
// such market.
func Missing(err error, statuses ...int) bool {
	var refused *RefusedError
	return errors.As(err, &refused) && (refused.Status == http.StatusNotFound || slices.Contains(statuses, refused.Status))
}

// NativeKey returns the key that provider p uses for a market. ok is false for an id of another provider.
func NativeKey(p protocol.Provider, id protocol.MarketID) (key string, ok bool) {
	parsed, err := protocol.ParseMarketID(string(id))
	if err != nil || parsed.Provider() != p {
		return "", false
	}
	return parsed.NativeKey(), true
}

// Settle sets the final result of a market. payout is the amount that one YES share pays, as decimal text; it is empty
// if unknown.
func Settle(m *market.Record, verdict protocol.Verdict, payout string) {
	m.Status, m.Provisional, m.Verdict = protocol.MarketResolved, false, &verdict
	if payout != "" {
		m.Payout = &payout
	}
}

// Records decodes the market records of one provider and counts those that are omitted.
type Records[T any] struct {
	Client *Client
	Decode func(json.RawMessage) (T, error)
	Key    func(*T) string
	// Unusable returns the reason for which no call is possible on the market of a record, as a label of the metric of
	// dropped records. It returns "" if a call is possible.
	Unusable func(*T) string
}

// One decodes the record of the market with a key. err is the error of the request. Faults: market.ErrNotFound, also
// for a record of another market and for an unusable one; market.ErrUnavailable.
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

// Usable reports whether a call is possible on the market of a record. It counts an unusable record.
func (r *Records[T]) Usable(o *T) bool {
	reason := r.Unusable(o)
	if reason != "" {
		r.Client.Dropped(reason)
	}
	return reason == ""
}

// List is ReadList for a list of records, followed by All.
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

// All decodes a list of records and omits those that cannot be decoded. It returns market.ErrUnavailable if none can be
// decoded.
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
		return nil, Unavailable(fmt.Errorf("none of %d records can be read", len(raw)))
	}
	return list, nil
}

// Cursor returns the cursor of a page: its number, from 1, and the position after which it starts.
func Cursor(page int, after string) string { return strconv.Itoa(page) + ":" + after }

// ReadCursor parses a cursor. An empty cursor is page 0. The page number must be below limit, so that every list ends.
// Fault: market.ErrUnavailable.
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

// ReadNumberCursor is ReadCursor for a position that is a number from 1.
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
