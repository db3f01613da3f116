package record

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// ErrDiffers says that a record is not what follows from its own lines.
var ErrDiffers = errors.New("the record does not hold. Fetch it again, and if it differs still tell the people who run the service")

// ErrOrigin says that the origin of a record is not verified, and that the reader requires it.
var ErrOrigin = errors.New("arithmetic verified; origin not verified: the record has no proofs of the public log")

// ErrNoRecord says that something is no record at all.
var ErrNoRecord = errors.New("this is no record: jsonl is wanted, and its first line is of type record")

// longest is the longest line that is read; a call has at most 200 events.
const longest = 16 << 20

// mostAhead is how far the clocks of a service and of its reader may be apart.
const mostAhead = 5 * time.Minute

// How is what a reader brings along.
type How struct {
	Now time.Time     // by the reader's clock
	Key note.Verifier // of the journal; nil: whether a checkpoint is signed is not looked at
}

// Verified is what a record turned out to be.
type Verified struct {
	Handle        string
	Source        string
	AsOf          time.Time
	Calls, Events int64
	Scoring       int64 // calls whose market is claimed and which wait for their result
	Unpriced      int64 // verified calls without a stored quote, whose scoring price cannot be recomputed
	Unsigned      bool  // there is a checkpoint, and no key to look at its signature with
	Differences   int
}

// Verify reads a record and works out every number in it again: scoring price, status, score,
// closing line value and moment of each call, the order of the calls, and on the last
// line the totals, streak, accuracy, edge statistics and the sum of all bytes. It
// writes a line to out for each difference. Faults: ErrDiffers; ErrNoRecord; those of r.
func Verify(r io.Reader, out io.Writer, how How) (Verified, error) {
	v := &verifier{how: how, d: differences{to: out}, sum: sha256.New(), seen: map[string]bool{}, markets: map[string]bool{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), longest)
	lines.Split(wholeLines)
	for lines.Scan() {
		v.d.line++
		if err := v.take(lines.Bytes()); err != nil {
			return v.out, err
		}
	}
	if err := lines.Err(); err != nil {
		return v.out, fmt.Errorf("line %d: %w", v.d.line+1, err)
	}
	if v.d.line == 0 {
		return v.out, ErrNoRecord
	}
	v.d.line++
	v.d.that(v.ended, "end", plain("nothing"), "a line of type end: the record was cut")
	v.out.Calls, v.out.Events, v.out.Scoring, v.out.Differences = v.t.Total, v.t.events, v.t.scoring, v.d.n
	if v.d.n > 0 {
		return v.out, fmt.Errorf("%w: %d differences", ErrDiffers, v.d.n)
	}
	return v.out, nil
}

// wholeLines splits after each line end and keeps it: the sum is over all bytes.
func wholeLines(data []byte, atEOF bool) (int, []byte, error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

type verifier struct {
	how     How
	head    head
	d       differences
	t       totals
	out     Verified
	sum     hash.Hash
	seen    map[string]bool // calls
	markets map[string]bool
	last    call
	ended   bool
}

func (v *verifier) take(text []byte) error {
	var kind struct {
		Type string `json:"type"`
	}
	err := json.Unmarshal(text, &kind)
	if name := twice(text); name != "" {
		v.d.add("line", name, "each member once")
	}
	if v.d.line == 1 {
		if err != nil || kind.Type != "record" {
			return ErrNoRecord
		}
		return v.begin(text)
	}
	switch {
	case v.ended:
		v.d.add("type", kind.Type, "nothing behind the end")
	case err != nil:
		v.d.add("line", plain("no JSON"), "a JSON object")
	case kind.Type == "call":
		v.call(text)
	case kind.Type == "end":
		v.end(text)
	default:
		v.d.add("type", kind.Type, "call or end")
	}
	return nil
}

func (v *verifier) begin(text []byte) error {
	h := &v.head
	if err := json.Unmarshal(text, h); err != nil {
		return fmt.Errorf("%w: %q", ErrNoRecord, err.Error())
	}
	if h.Version != "2" {
		return fmt.Errorf("%w: form %q is not known here", ErrNoRecord, h.Version)
	}
	v.out.Handle, v.out.Source, v.out.AsOf = h.Handle, h.Source, h.AsOf
	named(text, *h, &v.d)
	h.check(v.how.Now, &v.d)
	v.sum.Write(text)
	return nil
}

func (v *verifier) call(text []byte) {
	v.sum.Write(text)
	var c call
	if err := json.Unmarshal(text, &c); err != nil {
		v.d.add("line", err, "a call")
		return
	}
	named(text, c, &v.d)
	v.d.same("n", c.N, v.t.Total+1)
	v.d.that(!v.seen[c.ID], "id", c.ID, "another one on each line")
	v.d.that(!v.markets[c.MarketID], "marketId", c.MarketID, "one call on each market")
	v.d.that(!c.CreatedAt.Before(v.last.CreatedAt), "createdAt", stamp(&c.CreatedAt), "not before the line above")
	v.seen[c.ID], v.markets[c.MarketID] = true, true
	c.checkForm(v.head.AsOf, &v.d)
	if !c.checkPrice(&v.head, &v.d) {
		v.out.Unpriced++
	}
	c.check(v.head.ConfirmAfter > 0, &v.d)
	if err := v.t.add(&c); err != nil {
		v.d.add("statistics", err, "a call that can be counted")
	}
	v.last = c
}

func (v *verifier) end(text []byte) {
	v.ended = true
	var e end
	if err := json.Unmarshal(text, &e); err != nil {
		v.d.add("line", err, "an end")
		return
	}
	named(text, e, &v.d)
	v.out.Unsigned = e.Checkpoint != nil && v.how.Key == nil
	v.d.same("sha256", e.SHA256, hex.EncodeToString(v.sum.Sum(nil)))
	v.t.check(&e, &v.d)
	checkCheckpoint(e.Checkpoint, v.how.Key, &v.d)
}
