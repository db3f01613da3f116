package signalcast

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Code is a stable error code of the protocol (docs/protocol/errors.md). It implements error, so that errors.Is finds it:
//
//	errors.Is(err, signalcast.ErrAlreadyPredicted)
//
// Write a code without a constant as Code("its_name").
type Code string

// Error implements error.
func (c Code) Error() string { return string(c) }

// Error is an error response of a service. A write with a Status of 500 or more may have taken effect.
type Error struct {
	Status     int
	Code       Code           // empty if the responder is not a Signalcast service
	Message    string         // for people; not stable
	Extra      map[string]any // the other members; numbers are float64
	RetryAfter time.Duration  // 0: not stated
	RequestID  string         // id of the request in the log of the service
	Operation  string         // such as "POST /api/predictions"
}

// Error returns the operation, the status, the code, the invalid field, the message, and for a status from 500 the request ID.
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

// Is reports whether target is the Code of the error. errors.Is calls it. An empty Code matches nothing.
func (e *Error) Is(target error) bool {
	c, ok := target.(Code)
	return ok && c != "" && c == e.Code
}

// ID returns the ID of the call that the operator already has on the market, if the error is ErrAlreadyPredicted.
func (e *Error) ID() string { return e.text("id") }

// Field returns the name of the invalid member or parameter of the request, or "" if the response names none.
func (e *Error) Field() string { return e.text("field") }

// Reason returns the detail of the error code, or "" if there is none. It is `settled` or `provisional` for ErrMarketClosed, and
// `moved` or `unverified` for ErrPriceMoved.
func (e *Error) Reason() string { return e.text("reason") }

func (e *Error) text(name string) string {
	s, _ := e.Extra[name].(string)
	return s
}

// Degraded is the error of a response that remains incomplete after retries. The method returns the incomplete response as well.
type Degraded struct {
	Part      string // the missing part
	Operation string
}

// Error implements error.
func (d *Degraded) Error() string {
	const text = "signalcast: %s: the response is incomplete because a part of the service is unavailable: %s"
	return fmt.Sprintf(text, d.Operation, d.Part)
}

// Unanswered is the error of a request without a complete response. A write may have taken effect.
type Unanswered struct {
	Operation string
	Err       error
}

// Error implements error.
func (u *Unanswered) Error() string {
	return fmt.Sprintf("signalcast: %s: no answer: %v", u.Operation, u.Err)
}

// Unwrap returns the reason why there is no complete response.
func (u *Unanswered) Unwrap() error { return u.Err }

// refusal returns an Error for a response with an error status. raw is the body of the response, which may be incomplete or not
// JSON.
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
	if e.Status == http.StatusTooManyRequests {
		e.Message = limitText(e.Message, a.Header, e.RetryAfter)
	}
	return e
}

// limitText returns the text of a rate limit: its bound if the headers have it, and the wait.
func limitText(message string, h http.Header, wait time.Duration) string {
	for _, l := range limitsOf("", h) {
		if l.Remaining == 0 {
			message = fmt.Sprintf("%d requests in %.0f s", l.Limit, l.Window.Seconds())
		}
	}
	switch retry := fmt.Sprintf("retry in %.0f s", math.Ceil(wait.Seconds())); {
	case wait <= 0 || strings.Contains(message, "retry in"):
		return message
	case message == "":
		return retry
	default:
		return message + "; " + retry
	}
}

// longestAsked is the limit of the wait times that asked accepts.
const longestAsked = 400 * 24 * time.Hour

// asked returns the time that the client must wait according to the response, or 0 if the response states no valid time. It uses
// the member retryAfterMs of the body if present, because that is more exact. Otherwise it uses the header Retry-After, which
// contains seconds or a date. The date is compared with the header Date.
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
