package signalcast

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Code is the stable code of a refusal. It is an error itself, so that errors.Is finds it:
//
//	errors.Is(err, signalcast.ErrAlreadyPredicted)
//
// A code that this library does not know yet is found as Code("its_name").
type Code string

// Error implements error.
func (c Code) Error() string { return string(c) }

// Error is the no of a service. A write that ended with a Status of 500 or more may have
// happened all the same.
type Error struct {
	Status     int
	Code       Code           // empty where what answered is no Signalcast service
	Message    string         // for people; may change
	Extra      map[string]any // the other members: numbers are float64
	RetryAfter time.Duration  // 0: nothing was said
	RequestID  string         // finds the log line of the service
	Operation  string         // such as "POST /api/predictions"
}

// Error says what was asked and what was answered.
func (e *Error) Error() string {
	text := fmt.Sprintf("signalcast: %s: %d %s", e.Operation, e.Status, e.Code)
	if e.Code == "" {
		text = fmt.Sprintf("signalcast: %s: %d %s", e.Operation, e.Status, http.StatusText(e.Status))
	}
	if field := e.text("field"); field != "" {
		text += " (" + field + ")"
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	if e.Status >= http.StatusInternalServerError && e.RequestID != "" {
		text += ", request " + e.RequestID
	}
	return text
}

// Is compares with a Code.
func (e *Error) Is(target error) bool {
	c, ok := target.(Code)
	return ok && c != "" && c == e.Code
}

// ID is the id of the call that the caller already has on this market. It is empty unless the
// error is ErrAlreadyPredicted.
func (e *Error) ID() string { return e.text("id") }

// Field is the member or parameter that does not fit.
func (e *Error) Field() string { return e.text("field") }

// Reason says more than the code: `settled` or `provisional` of ErrMarketClosed, `moved` or
// `unverified` of ErrPriceMoved.
func (e *Error) Reason() string { return e.text("reason") }

func (e *Error) text(name string) string {
	s, _ := e.Extra[name].(string)
	return s
}

// Degraded is the error of an incomplete answer, after retries. It is returned with the answer: lists do not fail while a part
// of the service is unavailable.
type Degraded struct {
	Part      string // what is missing
	Operation string
}

// Error implements error.
func (d *Degraded) Error() string {
	return fmt.Sprintf("signalcast: %s: the answer is incomplete, a part of the service is unavailable: %s", d.Operation, d.Part)
}

// Unanswered is the error of a request without a complete answer. A write may have happened.
type Unanswered struct {
	Operation string
	Err       error
}

// Error implements error.
func (u *Unanswered) Error() string {
	return fmt.Sprintf("signalcast: %s: no answer: %v", u.Operation, u.Err)
}

// Unwrap gives the cause.
func (u *Unanswered) Unwrap() error { return u.Err }

// refusal reads the error of an answer; raw is its body.
func refusal(operation string, a *http.Response, raw []byte) *Error {
	e := &Error{Status: a.StatusCode, Operation: operation, RequestID: a.Header.Get("X-Request-Id")}
	var members map[string]any
	if json.Unmarshal(raw, &members) == nil {
		code, _ := members["error"].(string)
		e.Code = Code(code)
		e.Message, _ = members["message"].(string)
		delete(members, "error")
		delete(members, "message")
		e.Extra = members
	}
	e.RetryAfter = asked(a.Header, e.Extra)
	return e
}

// longestAsked is more than any service asks for.
const longestAsked = 400 * 24 * time.Hour

// asked is how long an answer wants its reader to wait; its body is more exact than its
// header, which has whole seconds or a date, to be read beside that of the answer.
func asked(h http.Header, extra map[string]any) time.Duration {
	if ms, ok := extra["retryAfterMs"].(float64); ok && ms > 0 && ms < float64(longestAsked.Milliseconds()) {
		return time.Duration(ms * float64(time.Millisecond))
	}
	if n, err := strconv.Atoi(h.Get("Retry-After")); err == nil && n >= 0 && n < int(longestAsked.Seconds()) {
		return time.Duration(n) * time.Second
	}
	then, err := http.ParseTime(h.Get("Retry-After"))
	now, bad := http.ParseTime(h.Get("Date"))
	if err != nil || bad != nil {
		return 0
	}
	return max(0, min(then.Sub(now), longestAsked))
}
