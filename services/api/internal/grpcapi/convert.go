package grpcapi

import (
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/apperr"
)

func stampOf(t *time.Time) *timestamppb.Timestamp {
	if t == nil {
		return nil
	}
	return timestamppb.New(*t)
}

// timeOf converts a timestamp to a time. It returns nil for nil.
func timeOf(t *timestamppb.Timestamp) *time.Time {
	if t == nil {
		return nil
	}
	at := t.AsTime()
	return &at
}

// timeOrZero converts a timestamp to a time. It returns the zero time for nil.
func timeOrZero(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}

// listOf calls the function convert for each entry of a list and returns the results in order. It never returns nil.
func listOf[T, M any](list []T, convert func(T) M) []M {
	out := make([]M, len(list))
	for i := range list {
		out[i] = convert(list[i])
	}
	return out
}

// wordsOf converts the entries of a list from one string type to another. It never returns nil.
func wordsOf[T, S ~string](list []S) []T {
	return listOf(list, func(word S) T { return T(word) })
}

// int32Of converts an optional number to an optional int32 of protobuf. It returns nil for nil.
func int32Of[T ~int](n *T) *int32 {
	if n == nil {
		return nil
	}
	v := int32(*n)
	return &v
}

// wide converts an optional int32 of protobuf to an optional number of type T. It returns nil for nil.
func wide[T ~int](n *int32) *T {
	if n == nil {
		return nil
	}
	v := T(*n)
	return &v
}

// filled converts a text of protobuf to an optional text. It returns nil for an empty text.
func filled(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// textOf converts an optional text to a text of protobuf. It returns an empty text for nil.
func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

var errNoSuch = apperr.New(apperr.NotFound, "not_found", "no object has this id; an id is a UUID")

// uuids returns the error not_found unless each id is a UUID in the form of 36 characters.
func uuids(ids ...string) error {
	for _, id := range ids {
		if len(id) != 36 {
			return errNoSuch
		}
		if _, err := uuid.Parse(id); err != nil {
			return errNoSuch
		}
	}
	return nil
}
