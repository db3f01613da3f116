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
	"strconv"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// ErrDiffers is the error of a record in which at least one number differs from the computed number.
var ErrDiffers = errors.New("the record contains values that differ from the computed ones")

// incomplete is the error of a record that lacks its end line, or at least one of the calls that the end line counts. It matches
// ErrDiffers.
type incomplete struct{ differences int }

// Error implements error.
func (i incomplete) Error() string {
	return countText(i.differences) + ": the record is incomplete; download it again"
}

// Is reports whether target is ErrDiffers.
func (incomplete) Is(target error) bool { return target == ErrDiffers }

// countText returns a number of differences as text.
func countText(n int) string {
	if n == 1 {
		return "1 difference"
	}
	return strconv.Itoa(n) + " differences"
}

// ErrOrigin is the error of a record whose arithmetic is correct but whose origin was required and could not be verified.
var ErrOrigin = errors.New("arithmetic verified; origin not verified: records contain no proofs from the public log; " +
	"run without --require-origin to check the arithmetic only")

// ErrNoRecord is the error of an input that is not a record in a supported format.
var ErrNoRecord = errors.New("the input is not a record in a supported format")

// errFirstLine is the error of an input that is empty or whose first line is not of type record. It matches ErrNoRecord.
var errFirstLine = fmt.Errorf("%w: it must be JSON Lines, and its first line must be of type record", ErrNoRecord)

// maxLine is the maximum length of a line in bytes.
const maxLine = 16 << 20

// maxClockSkew is the allowed difference between the clock of the service and the clock of the machine that verifies the record.
const maxClockSkew = 5 * time.Minute

// Options contains the inputs of a verification other than the record.
type Options struct {
	Now time.Time     // time of the reader
	Key note.Verifier // public key of the journal; nil means that the signature of the checkpoint is not checked
}

// Result summarizes the verification of one record.
type Result struct {
	Handle        string
	Source        string
	AsOf          time.Time
	Calls, Events int64
	Scoring       int64 // calls on a resolved market that are not scored yet
	Unpriced      int64 // verified calls without a stored quote, whose scoring price cannot be computed
	Unsigned      bool  // the record has a checkpoint, but its signature was not checked because no key was given
	Differences   int
}

// Verify reads a record from r and computes its numbers again. For each call these are the scoring price, status, score,
// closing line value and moment. For the last line these are the totals, streak, accuracy, edge and SHA-256. It also checks
// the order of the calls. It writes one line to out for each difference. Its error is ErrDiffers, ErrNoRecord, or the error
// of a line that cannot be read or is longer than maxLine.
func Verify(r io.Reader, out io.Writer, opts Options) (Result, error) {
	v := &verifier{opts: opts, d: differences{to: out}, sum: sha256.New(), seen: map[string]bool{}, markets: map[string]bool{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	lines.Split(splitLines)
	for lines.Scan() {
		v.d.line++
		if err := v.checkLine(lines.Bytes()); err != nil {
			return v.out, err
		}
	}
	if err := lines.Err(); err != nil {
		return v.out, fmt.Errorf("line %d: %w", v.d.line+1, err)
	}
	if v.d.line == 0 {
		return v.out, errFirstLine
	}
	v.d.line++
	v.d.require(v.ended, "end", plain("nothing"), "a line of type end: the record is incomplete")
	v.out.Calls, v.out.Events, v.out.Scoring, v.out.Differences = v.t.Total, v.t.events, v.t.scoring, v.d.n
	switch {
	case v.d.n == 0:
		return v.out, nil
	case !v.ended || v.missing:
		return v.out, incomplete{v.d.n}
	}
	const text = "%w: %s; download it again, and report it to the administrator of the service if it still differs"
	return v.out, fmt.Errorf(text, ErrDiffers, countText(v.d.n))
}

// splitLines is a bufio.SplitFunc that returns lines with their line end, because the SHA-256 covers all bytes.
func splitLines(data []byte, atEOF bool) (int, []byte, error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// verifier contains the state of one verification.
type verifier struct {
	opts    Options
	head    head
	d       differences
	t       totals
	out     Result
	sum     hash.Hash       // SHA-256 of the lines so far
	seen    map[string]bool // ids of the calls so far
	markets map[string]bool // ids of their markets
	last    call            // previous call
	ended   bool            // the line of type end was read
	missing bool            // the line of type end counts more calls than the record contains
}

// checkLine checks one line of a record. It returns an error only if the input is not a record; differences are reported.
func (v *verifier) checkLine(text []byte) error {
	var kind struct {
		Type string `json:"type"`
	}
	err := json.Unmarshal(text, &kind)
	if name := duplicateMember(text); name != "" {
		v.d.add("line", name, "each member once")
	}
	if v.d.line == 1 {
		if err != nil || kind.Type != "record" {
			return errFirstLine
		}
		return v.begin(text)
	}
	switch {
	case v.ended:
		v.d.add("type", kind.Type, "no line after the end")
	case err != nil && !bytes.HasSuffix(text, []byte("\n")):
		// The last line was cut off. Verify reports the missing end.
	case err != nil:
		v.d.add("line", plain("invalid JSON"), "a JSON object")
	case kind.Type == "call":
		v.call(text)
	case kind.Type == "end":
		v.end(text)
	default:
		v.d.add("type", kind.Type, "call or end")
	}
	return nil
}

// formatVersion is the supported version of the record format.
const formatVersion = "2"

// begin parses and checks the first line of a record. It returns ErrNoRecord if the line cannot be decoded or has an unknown
// format version.
func (v *verifier) begin(text []byte) error {
	var format struct {
		Version json.RawMessage `json:"version"`
	}
	if err := json.Unmarshal(text, &format); err != nil {
		return fmt.Errorf("%w: %q", ErrNoRecord, err.Error())
	}
	var name string
	if json.Unmarshal(format.Version, &name) != nil || name != formatVersion {
		version := "no version"
		if len(format.Version) > 0 {
			version = fmt.Sprintf("version %.40s", format.Version)
		}
		return fmt.Errorf("%w: %s; this program reads version %q", ErrNoRecord, version, formatVersion)
	}
	h := &v.head
	if err := json.Unmarshal(text, h); err != nil {
		return fmt.Errorf("%w: %q", ErrNoRecord, err.Error())
	}
	v.out.Handle, v.out.Source, v.out.AsOf = h.Handle, h.Source, h.AsOf
	checkMembers(text, *h, &v.d)
	h.check(v.opts.Now, &v.d)
	v.sum.Write(text)
	return nil
}

// call checks a line of type call and adds the call to the totals.
func (v *verifier) call(text []byte) {
	v.sum.Write(text)
	var c call
	if err := json.Unmarshal(text, &c); err != nil {
		v.d.add("line", err, "a call")
		return
	}
	checkMembers(text, c, &v.d)
	v.d.equal("n", c.N, v.t.Total+1)
	v.d.require(!v.seen[c.ID], "id", c.ID, "a different id on each line")
	v.d.require(!v.markets[c.MarketID], "marketId", c.MarketID, "one call on each market")
	v.d.require(!c.CreatedAt.Before(v.last.CreatedAt), "createdAt", stamp(&c.CreatedAt), "not before the previous call")
	v.seen[c.ID], v.markets[c.MarketID] = true, true
	c.checkForm(v.head.AsOf, &v.d)
	if !c.checkPrice(&v.head, &v.d) {
		v.out.Unpriced++
	}
	c.check(v.head.ConfirmAfter > 0, &v.d)
	if err := v.t.add(&c); err != nil {
		v.d.add("statistics", err, "a call that the statistics accept")
	}
	v.last = c
}

// end checks the line of type end, which contains the totals.
func (v *verifier) end(text []byte) {
	v.ended = true
	var e end
	if err := json.Unmarshal(text, &e); err != nil {
		v.d.add("line", err, "an end")
		return
	}
	checkMembers(text, e, &v.d)
	v.out.Unsigned = e.Checkpoint != nil && v.opts.Key == nil
	v.d.equal("sha256", e.SHA256, hex.EncodeToString(v.sum.Sum(nil)))
	v.missing = e.Calls > v.t.Total
	v.t.check(&e, &v.d)
	checkCheckpoint(e.Checkpoint, v.opts.Key, &v.d)
}
