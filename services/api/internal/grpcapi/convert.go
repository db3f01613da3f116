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

// timeOf converts an optional timestamp.
func timeOf(t *timestamppb.Timestamp) *time.Time {
	if t == nil {
		return nil
	}
	at := t.AsTime()
	return &at
}

// listOf converts the entries of a list.
func listOf[T, M any](list []T, convert func(T) M) []M {
	out := make([]M, len(list))
	for i := range list {
		out[i] = convert(list[i])
	}
	return out
}

// wordsOf converts a list of strings to another string type. It never returns nil.
func wordsOf[T, S ~string](list []S) []T {
	return listOf(list, func(word S) T { return T(word) })
}

// int32Of converts an optional number to a protobuf optional.
func int32Of[T ~int](n *T) *int32 {
	if n == nil {
		return nil
	}
	v := int32(*n)
	return &v
}

// wide converts a protobuf optional to an optional number.
func wide[T ~int](n *int32) *T {
	if n == nil {
		return nil
	}
	v := T(*n)
	return &v
}

// filled converts a protobuf string; empty becomes nil.
func filled(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// textOf converts an optional text to a protobuf string; nil becomes empty.
func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

var errNoSuch = apperr.New(apperr.NotFound, "not_found", "no such id")

// uuids returns not_found unless every id is a UUID of 36 characters.
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
