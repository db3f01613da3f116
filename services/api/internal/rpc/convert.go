package rpc

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"
)

func stampOf(t *time.Time) *timestamppb.Timestamp {
	if t == nil {
		return nil
	}
	return timestamppb.New(*t)
}

// timeOf returns nil for an absent timestamp.
func timeOf(t *timestamppb.Timestamp) *time.Time {
	if t == nil {
		return nil
	}
	at := t.AsTime()
	return &at
}

// textOf narrows a named string to a protobuf optional.
func textOf[T ~string](s *T) *string {
	if s == nil {
		return nil
	}
	v := string(*s)
	return &v
}

// int32Of narrows an optional number to a protobuf optional.
func int32Of[T ~int](n *T) *int32 {
	if n == nil {
		return nil
	}
	v := int32(*n)
	return &v
}

// wide widens a protobuf optional.
func wide[T ~int](n *int32) *T {
	if n == nil {
		return nil
	}
	v := T(*n)
	return &v
}

// filled turns an empty protobuf string into an absent one.
func filled(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
