package ask

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Away says that a service is unavailable.
type Away struct{ text string }

// Error implements error.
func (a *Away) Error() string { return a.text }

// Cut returns the error of an answer that ended early.
func Cut(err error) *Away {
	return &Away{"the answer was cut: " + err.Error() + ". Try again in a moment"}
}

// Lost says that the result of a write is unknown: its answer was lost, or the service failed. The write may have happened.
type Lost struct {
	because string
	Do      string // how to find out, in words; set by the command
}

// Error implements error.
func (l *Lost) Error() string {
	do := l.Do
	if do == "" {
		do = "Look before you send it again"
	}
	return l.because + ". What was asked may have happened all the same. " + do
}

// MayHave sets Do of a Lost: how to find out whether the write has happened.
func MayHave(err error, do string) error {
	if l := (*Lost)(nil); errors.As(err, &l) {
		l.Do = do
	}
	return err
}

// Harmless returns the error of a request that changes nothing although its method is that of a write: a Lost becomes an Away.
func Harmless(err error) error {
	if l := (*Lost)(nil); errors.As(err, &l) {
		return &Away{l.because + ". Try again in a moment"}
	}
	return err
}

// Refused is the error of a request that a service refused.
type Refused struct {
	Status  int
	Code    string // `error` of the answer
	Message string
	Field   string
	ID      string // already_predicted: the stored call
	Receipt string // and its receipt
	Reason  string
	Limit   int
	Wait    time.Duration // 429
	Body    []byte        // the answer, when it is JSON
	Do      string        // what to do, in words; set by Advise or by the command
}

// Error says what was refused and what to do.
func (r *Refused) Error() string {
	text := fmt.Sprintf("%d %s", r.Status, r.Code)
	if r.Code == "" {
		text = fmt.Sprintf("%d %s", r.Status, http.StatusText(r.Status))
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

// Advise sets what to do about a refusal, by its code or by its status.
func Advise(err error, do map[string]string) error {
	if r, ok := errors.AsType[*Refused](err); ok {
		r.Do = cmp.Or(do[r.Code], do[strconv.Itoa(r.Status)], r.Do)
	}
	return err
}

// maxAnswer is more than any answer that the commands read has, in bytes.
const maxAnswer = 16 << 20

// Read returns the body of a successful answer. A degraded answer is returned with an Away.
func Read(a *http.Response, err error) ([]byte, error) {
	if err != nil {
		return nil, unreached(err)
	}
	defer func() { _ = a.Body.Close() }()
	write := a.Request != nil && writes(a.Request)
	raw, err := io.ReadAll(io.LimitReader(a.Body, maxAnswer))
	if err != nil && write {
		return nil, &Lost{because: "the answer was cut: " + err.Error()}
	}
	if err != nil {
		return nil, Cut(err)
	}
	switch {
	case a.StatusCode >= 500 && write:
		because := failed(refusal(a, raw))
		if id := a.Header.Get("X-Request-Id"); id != "" {
			because += " (request " + id + ")"
		}
		return nil, &Lost{because: because}
	case a.StatusCode >= 500:
		return nil, gone(a, raw)
	case a.StatusCode >= 300 && a.StatusCode < 400:
		return nil, &Refused{Status: a.StatusCode, Do: "The service stands elsewhere: give its own address with --hub or --api"}
	case a.StatusCode >= 400:
		return nil, refusal(a, raw)
	}
	if !json.Valid(raw) {
		return nil, &Refused{Status: a.StatusCode, Code: "no_json", Do: "What answers there is no Signalcast service: look at --hub and --api"}
	}
	if part := a.Header.Get("X-Degraded"); part != "" {
		return raw, &Away{fmt.Sprintf("the answer is incomplete, a part of the service is unavailable (%s). Try again in a moment", part)}
	}
	return raw, nil
}

// reason returns the error of the transport without the address.
func reason(err error) string {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err
	}
	return err.Error()
}

func unreached(err error) error {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		at := "the service"
		if to, bad := url.Parse(u.URL); bad == nil {
			at = to.Scheme + "://" + to.Host
		}
		return &Away{fmt.Sprintf("%s cannot be reached: %v. Look whether the address is right and the service up", at, u.Err)}
	}
	return err
}

func gone(a *http.Response, raw []byte) error {
	r := refusal(a, raw)
	again := "Try again in a moment"
	if r.Wait > 0 {
		again = "Try again in " + r.Wait.String()
	}
	if id := a.Header.Get("X-Request-Id"); a.StatusCode == http.StatusInternalServerError && id != "" {
		again = "Tell the people who run the service, with request " + id
	}
	return &Away{failed(r) + ". " + again}
}

// failed describes the error of a service.
func failed(r *Refused) string {
	text := fmt.Sprintf("%d %s", r.Status, r.Code)
	if r.Message != "" {
		text += ": " + r.Message
	}
	return text
}

func refusal(a *http.Response, raw []byte) *Refused {
	var said struct {
		Error, Message, Field, ID, ReceiptURL, Reason string
		Limit                                         int
		RetryAfterMs                                  int64
	}
	r := &Refused{Status: a.StatusCode, Wait: retryAfter(a)}
	if json.Unmarshal(raw, &said) == nil {
		r.Code, r.Message, r.Field, r.Reason, r.Limit = said.Error, said.Message, said.Field, said.Reason, said.Limit
		r.ID, r.Receipt, r.Body = said.ID, said.ReceiptURL, raw
		if ms := said.RetryAfterMs; ms > 0 && ms < 1<<40 {
			r.Wait = (time.Duration(ms)*time.Millisecond + time.Second - 1).Truncate(time.Second)
		}
	}
	r.advise()
	return r
}

// advise says what to do about a refusal that any command can get.
func (r *Refused) advise() {
	switch {
	case r.Status == http.StatusUnauthorized:
		r.Do = "The key or token is wrong, expired or revoked, or of another service: run `signalcast login` with a new one"
	case r.Status == http.StatusTooManyRequests && r.Wait > 0:
		r.Do = "Wait " + r.Wait.String() + ", then send it again"
	case r.Status == http.StatusTooManyRequests:
		r.Do = "Wait a minute, then send it again"
	case r.Status == http.StatusRequestEntityTooLarge, r.Status == http.StatusRequestHeaderFieldsTooLarge:
		r.Do = "Something in it is too long: give less"
	case r.Code == "insufficient_scope":
		r.Do = "The key may not do this: log in with one that may"
	case r.Code == "key_limit_reached":
		r.Do = "Revoke a key on the hub's page /dev, or give one that you have"
	case r.Code == "idempotency_key_reused":
		r.Do = "Leave --idempotency-key away, or take another one"
	}
}
