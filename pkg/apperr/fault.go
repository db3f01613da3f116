package apperr

import (
	"errors"
	"fmt"
	"maps"
)

// Kind is the category of a fault. Each transport maps a kind to one status code.
type Kind uint8

// Kinds of faults and their HTTP status codes.
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

// Fault is an expected failure with a stable public code. Faults are immutable: With, WithText and Wrap return copies.
type Fault struct {
	Kind    Kind
	Code    string         // stable, snake_case
	Message string         // public text; may be empty
	Extra   map[string]any // further members of the JSON error response
	cause   error          // logged, never sent to a caller
}

// New returns a fault without further members and without a cause.
func New(kind Kind, code, message string) *Fault {
	return &Fault{Kind: kind, Code: code, Message: message}
}

// Error implements error. The text contains the code, the message and the private cause, and is meant for logs.
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

// Unwrap returns the private cause of the fault, or nil if there is none.
func (f *Fault) Unwrap() error { return f.cause }

// Is reports whether target is a fault of the same kind and code. Message, Extra and cause are ignored.
func (f *Fault) Is(target error) bool {
	t, ok := target.(*Fault)
	return ok && t.Kind == f.Kind && t.Code == f.Code
}

// With returns a copy of the fault with an additional member. The JSON error response contains it next to error and message.
func (f *Fault) With(member string, value any) *Fault {
	c := *f
	c.Extra = maps.Clone(f.Extra)
	if c.Extra == nil {
		c.Extra = make(map[string]any, 1)
	}
	c.Extra[member] = value
	return &c
}

// WithText returns a copy of the fault whose public text is the formatted message.
func (f *Fault) WithText(format string, args ...any) *Fault {
	c := *f
	c.Message = fmt.Sprintf(format, args...)
	return &c
}

// Wrap returns a copy of the fault with a private cause, which is logged and never sent to a caller.
func (f *Fault) Wrap(cause error) *Fault {
	c := *f
	c.cause = cause
	return &c
}

// ErrInternal is the fault that Of returns for an error that contains no fault.
var ErrInternal = New(Internal, "internal_error",
	"an internal error occurred; retry later, and report the value of the header X-Request-Id if it persists")

// Of returns the first fault in the chain of err. For an error without a fault it returns ErrInternal with err as its
// cause. Of(nil) is nil.
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
