package ask

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Unavailable is the error for a service that is unavailable, or for a response that is incomplete or degraded.
type Unavailable struct{ text string }

// Error implements error.
func (u *Unavailable) Error() string { return u.text }

// Truncated returns the error for a response whose body ended early. err is the error of the read.
func Truncated(err error) *Unavailable {
	if t := net.Error(nil); errors.As(err, &t) && t.Timeout() || errors.As(err, new(NoAnswer)) {
		return &Unavailable{"the response did not end within the time limit. Try again in a moment, or set a longer --timeout"}
	}
	return &Unavailable{"the response ended early: " + err.Error() + ". Try again in a moment"}
}

// UnknownResult is the error of a write whose response was lost or had a status of 500 or more. The service may have stored the
// write.
type UnknownResult struct {
	because string
	Do      string // how to find out whether the write was stored; a sentence for people
}

// Error implements error.
func (u *UnknownResult) Error() string {
	do := u.Do
	if do == "" {
		do = "Check the current state before you send it again"
	}
	return u.because + ". The request may have been stored. " + do
}

// AdviseUnknown returns err. If err is an UnknownResult, it first sets the field Do of err to the given sentence, which says
// how to find out whether the write was stored.
func AdviseUnknown(err error, do string) error {
	if u := (*UnknownResult)(nil); errors.As(err, &u) {
		u.Do = do
	}
	return err
}

// AsRead converts the error of a request that uses the method of a write but stores nothing, such as a dry run. An
// UnknownResult becomes an Unavailable, because the request can be repeated. Other errors do not change.
func AsRead(err error) error {
	if u := (*UnknownResult)(nil); errors.As(err, &u) {
		return &Unavailable{u.because + ". Try again in a moment"}
	}
	return err
}

// Refused is the error of a request that a service refused with a 4xx status. It is also the error for a response that is a
// redirect.
type Refused struct {
	Status  int
	Code    string // member `error` of the answer
	Message string
	Field   string
	ID      string // id of the stored call, with code already_predicted
	Receipt string // URL of the receipt of that call
	Reason  string
	Limit   int
	Wait    time.Duration // time to wait after a 429, rounded up to seconds; 0 if unknown
	Body    []byte        // body of the answer, if it is JSON
	Do      string        // what to do; a sentence for people, set by Advise or by the command
	foreign bool          // the answer has no error code of a Signalcast service
}

// Error returns the status, and the error code or the standard text of the status. The field, the message of the service and the
// advice follow if they are set.
func (r *Refused) Error() string {
	text := fmt.Sprintf("%d %s", r.Status, cmp.Or(r.Code, http.StatusText(r.Status)))
	if r.Status == http.StatusOK { // an answer that reports a refusal, such as that of an invalid message
		text = r.Code
	}
	if r.Field != "" {
		text += " (" + r.Field + ")"
	}
	if r.Message != "" {
		text += ": " + r.Message
	}
	if r.Do != "" {
		text += ". " + r.Do
	}
	return text
}

// Advice is the advice for a refusal: the reason of the refusal, which may be empty, and what to do. Both are sentences
// without the final period.
type Advice struct{ Why, Do string }

// Set sets the advice of r. It omits the reason if the service sent a message, because the message states it.
func (a Advice) Set(r *Refused) {
	switch {
	case a.Why == "":
		r.Do = a.Do
	case r.Message == "":
		r.Do = a.Why + ": " + strings.ToLower(a.Do[:1]) + a.Do[1:]
	default:
		r.Do = a.Do
	}
}

// Advise returns err. If err is a Refused of a Signalcast service, it first sets the advice of the Refused. The map do contains
// advice by error code or by status, for example "404". A code takes precedence; without a match, the advice does not change.
func Advise(err error, do map[string]Advice) error {
	r, ok := errors.AsType[*Refused](err)
	if !ok || r.foreign {
		return err
	}
	for _, name := range []string{r.Code, strconv.Itoa(r.Status)} {
		if a, ok := do[name]; ok {
			a.Set(r)
			break
		}
	}
	return err
}

// maxAnswer is the maximum number of bytes that Read reads from a body. It ignores the rest.
const maxAnswer = 16 << 20

// Read reads and closes the body of a response. The parameter err is the error of the request. If the response is degraded
// (header X-Degraded), Read returns the body and an Unavailable. For other failed requests it returns a Refused, an
// Unavailable or, for writes, an UnknownResult. If err is not a *url.Error, Read returns it unchanged.
func Read(a *http.Response, err error) ([]byte, error) {
	if err != nil {
		return nil, unreachable(err)
	}
	defer func() { _ = a.Body.Close() }()
	write := a.Request != nil && writes(a.Request)
	raw, err := io.ReadAll(io.LimitReader(a.Body, maxAnswer))
	if err != nil && write {
		return nil, &UnknownResult{because: "the response ended early: " + err.Error()}
	}
	if err != nil {
		return nil, Truncated(err)
	}
	switch {
	case a.StatusCode >= 500 && write:
		because := statusText(refusal(a, raw))
		if id := a.Header.Get("X-Request-Id"); id != "" {
			because += " (request " + id + ")"
		}
		return nil, &UnknownResult{because: because}
	case a.StatusCode >= 500:
		return nil, unavailable(a, raw)
	case a.StatusCode >= 300 && a.StatusCode < 400:
		return nil, &Refused{
			Status: a.StatusCode, Do: "The server redirects, and redirects are not followed: set the final address with --hub or --api",
		}
	case a.StatusCode >= 400:
		return nil, refusal(a, raw)
	}
	if !json.Valid(raw) {
		return nil, &Unavailable{"the answer is not JSON. " + otherService}
	}
	if part := a.Header.Get("X-Degraded"); part != "" {
		return raw, &Unavailable{
			"the response is incomplete: a part of the service is unavailable (" + part + "). Try again in a moment",
		}
	}
	return raw, nil
}

// otherService is the advice for an answer that no Signalcast service sends.
const otherService = "The server is not a Signalcast service: check --hub and --api"

// Reason returns the text of a transport error without the address of the request.
func Reason(err error) string {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err
	}
	return err.Error()
}

// unreachable converts a *url.Error to an Unavailable with the address of the service. It returns other errors unchanged.
func unreachable(err error) error {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		if errors.Is(u.Err, context.Canceled) { // by a process signal
			return u.Err
		}
		at := "the service"
		if to, bad := url.Parse(u.URL); bad == nil {
			at = to.Scheme + "://" + to.Host
		}
		if errors.As(err, new(NoAnswer)) {
			return &Unavailable{fmt.Sprintf("%s gives %v. Check the address, or set a longer --timeout", at, u.Err)}
		}
		return &Unavailable{fmt.Sprintf("%s cannot be reached: %v. Check the address, and that the service runs", at, u.Err)}
	}
	return err
}

// unavailable returns the error of a read for a response with a status of 500 or more.
func unavailable(a *http.Response, raw []byte) error {
	r := refusal(a, raw)
	again := "Try again in a moment"
	if r.Wait > 0 {
		again = "Try again in " + r.Wait.String()
	}
	if id := a.Header.Get("X-Request-Id"); a.StatusCode == http.StatusInternalServerError && id != "" {
		again = "Report it to the administrator of the service, with request " + id
	}
	return &Unavailable{statusText(r) + ". " + again}
}

// statusText returns the status, the code or the standard text of the status, and the message of r without advice.
func statusText(r *Refused) string {
	text := fmt.Sprintf("%d %s", r.Status, cmp.Or(r.Code, http.StatusText(r.Status)))
	if r.Message != "" {
		text += ": " + r.Message
	}
	return text
}

// refusal converts a response with an error status to a Refused. raw is the body of the response.
func refusal(a *http.Response, raw []byte) *Refused {
	var body struct {
		Error, Message, Field, ID, ReceiptURL, Reason string
		Limit                                         int
		RetryAfterMs                                  int64
	}
	r := &Refused{Status: a.StatusCode, Wait: retryAfter(a)}
	if json.Unmarshal(raw, &body) == nil {
		r.Code, r.Message, r.Field, r.Reason, r.Limit = body.Error, body.Message, body.Field, body.Reason, body.Limit
		r.ID, r.Receipt, r.Body = body.ID, body.ReceiptURL, raw
		if ms := body.RetryAfterMs; ms > 0 && ms < 1<<40 {
			r.Wait = (time.Duration(ms)*time.Millisecond + time.Second - 1).Truncate(time.Second)
		}
	}
	if r.foreign = r.Code == "" && r.Status == http.StatusNotFound; r.foreign {
		r.Do = otherService
		return r
	}
	r.advise()
	return r
}

// advise sets the advice for some statuses and error codes, for example 401 and insufficient_scope.
func (r *Refused) advise() {
	a := Advice{}
	switch {
	case r.Status == http.StatusUnauthorized:
		a = Advice{
			"The key or token is invalid, expired, revoked, or of another service", "Run `signalcast login` with a new one",
		}
	case r.Status == http.StatusTooManyRequests && r.Wait > 0:
		a.Do = "Wait " + r.Wait.String() + ", then send it again"
	case r.Status == http.StatusTooManyRequests:
		a.Do = "Wait a minute, then send it again"
	case r.Status == http.StatusRequestEntityTooLarge, r.Status == http.StatusRequestHeaderFieldsTooLarge:
		a = Advice{"The request is too long", "Shorten the arguments"}
	case r.Code == "insufficient_scope":
		a = Advice{"The key lacks the permission", "Log in with a key that has it"}
	case r.Code == "key_limit_reached":
		a.Do = "Revoke a key on the page /dev of the hub, or use an existing key"
	case r.Code == "idempotency_key_reused":
		a.Do = "Omit --idempotency-key, or set another key"
	}
	a.Set(r)
}
