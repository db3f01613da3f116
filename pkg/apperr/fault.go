package apperr

import (
	"errors"
	"fmt"
	"maps"
)

// Kind is the family of a fault; each transport maps it once.
type Kind uint8

// The kinds and the HTTP status that each becomes.
const (
	Internal        Kind = iota // 500
	Invalid                     // 400
	Unauthenticated             // 401
	Forbidden                   // 403
	NotFound                    // 404
	NotAllowed                  // 405
	Conflict                    // 409
	Gone                        // 410
	TooLarge                    // 413
	Unsupported                 // 415
	Limited                     // 429
	NotImplemented              // 501
	Unavailable                 // 503
)

// Fault is an expected failure with a stable public code.
// Values are immutable: With and Wrap return copies.
type Fault struct {
	Kind    Kind
	Code    string // stable, snake_case
	Message string // public text, may be empty
	Extra   map[string]any
	cause   error
}

// New declares a fault.
func New(kind Kind, code, message string) *Fault {
	return &Fault{Kind: kind, Code: code, Message: message}
}

// Error implements error; it names the code, the text and the private cause.
func (f *Fault) Error() string {
	s := f.Code
	if f.Message != "" {
		s += ": " + f.Message
	}
	if f.cause != nil {
		s += ": " + f.cause.Error()
	}
	return s
}

// Unwrap gives the private cause.
func (f *Fault) Unwrap() error { return f.cause }

// Is makes errors.Is compare faults by kind and code.
func (f *Fault) Is(target error) bool {
	t, ok := target.(*Fault)
	return ok && t.Kind == f.Kind && t.Code == f.Code
}

// With returns a copy that carries one more public member.
func (f *Fault) With(member string, value any) *Fault {
	c := *f
	c.Extra = maps.Clone(f.Extra)
	if c.Extra == nil {
		c.Extra = make(map[string]any, 1)
	}
	c.Extra[member] = value
	return &c
}

// Say returns a copy with another public text.
func (f *Fault) Say(format string, args ...any) *Fault {
	c := *f
	c.Message = fmt.Sprintf(format, args...)
	return &c
}

// Wrap returns a copy that remembers a private cause for the log.
func (f *Fault) Wrap(cause error) *Fault {
	c := *f
	c.cause = cause
	return &c
}

// ErrInternal is what every unexpected error becomes at an edge.
var ErrInternal = New(Internal, "internal_error", "")

// Of finds the fault in an error chain; any other error becomes
// ErrInternal with that error as its cause. Of(nil) is nil.
func Of(err error) *Fault {
	if err == nil {
		return nil
	}
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	return ErrInternal.Wrap(err)
}
