package grpcx

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/signalcast/signalcast/pkg/apperr"
)

const (
	domain      = "signalcast"
	kindKey     = "kind"
	extraKey    = "extra"
	tooLateCode = "deadline_too_short" // rejected before any work was done
)

// kinds maps each kind to its name in the status detail and to a gRPC status code. The receiver uses the name,
// because several kinds share a code.
var kinds = map[apperr.Kind]struct {
	name string
	code codes.Code
}{
	apperr.Invalid:         {"invalid", codes.InvalidArgument},
	apperr.Unauthenticated: {"unauthenticated", codes.Unauthenticated},
	apperr.Forbidden:       {"forbidden", codes.PermissionDenied},
	apperr.NotFound:        {"not_found", codes.NotFound},
	apperr.NotAllowed:      {"not_allowed", codes.Unimplemented},
	apperr.Conflict:        {"conflict", codes.AlreadyExists},
	apperr.Gone:            {"gone", codes.NotFound},
	apperr.TooLarge:        {"too_large", codes.InvalidArgument},
	apperr.Unsupported:     {"unsupported", codes.InvalidArgument},
	apperr.Limited:         {"limited", codes.ResourceExhausted},
	apperr.NotImplemented:  {"not_implemented", codes.Unimplemented},
	apperr.Unavailable:     {"unavailable", codes.Unavailable},
}

var kindNamed = func() map[string]apperr.Kind {
	m := make(map[string]apperr.Kind, len(kinds))
	for kind, k := range kinds {
		m[k.name] = kind
	}
	return m
}()

// toStatus returns the status error that the server sends for err. Only faults keep their text. A canceled context becomes
// codes.Canceled, an exceeded deadline codes.DeadlineExceeded, and every other error codes.Internal.
func toStatus(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return status.Error(codes.Canceled, "canceled")
	}
	var f *apperr.Fault
	if !errors.As(err, &f) {
		if errors.Is(err, context.DeadlineExceeded) {
			return status.Error(codes.DeadlineExceeded, "deadline exceeded")
		}
		return status.Error(codes.Internal, apperr.ErrInternal.Code)
	}
	k, ok := kinds[f.Kind]
	if !ok {
		return status.Error(codes.Internal, apperr.ErrInternal.Code)
	}
	info := &errdetails.ErrorInfo{Reason: f.Code, Domain: domain, Metadata: map[string]string{kindKey: k.name}}
	if len(f.Extra) > 0 {
		extra, err := json.Marshal(f.Extra)
		if err != nil {
			return status.Error(codes.Internal, apperr.ErrInternal.Code)
		}
		info.Metadata[extraKey] = string(extra)
	}
	st, err := status.New(k.code, f.Message).WithDetails(info)
	if err != nil {
		return status.Error(codes.Internal, apperr.ErrInternal.Code)
	}
	return st.Err()
}

// fromStatus converts the status error of a call to the error that its caller gets. A fault that the server sent is restored. If
// the server was unavailable, canceled the call or did not answer in time, the error is the parameter unavailable. If the caller
// canceled the call, it is the error of ctx. Every other status becomes an internal fault. An error without a status is returned
// unchanged.
func fromStatus(ctx context.Context, err error, unavailable *apperr.Fault) error {
	if err == nil {
		return nil
	}
	st, ok := status.FromError(err)
	if !ok {
		return err
	}
	if f := faultIn(st); f != nil {
		if f.Code == tooLateCode {
			return unavailable.Wrap(err)
		}
		return f.Wrap(err)
	}
	switch st.Code() {
	case codes.Canceled:
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return unavailable.Wrap(err)
	case codes.Unavailable, codes.DeadlineExceeded:
		if errors.Is(ctx.Err(), context.Canceled) {
			return ctx.Err()
		}
		return unavailable.Wrap(err)
	default:
		return apperr.ErrInternal.Wrap(err)
	}
}

// faultIn returns the fault in the details of a status, or nil if there is none.
func faultIn(st *status.Status) *apperr.Fault {
	info := errorInfo(st)
	if info == nil {
		return nil
	}
	kind, ok := kindNamed[info.GetMetadata()[kindKey]]
	if !ok {
		return nil
	}
	f := apperr.New(kind, info.GetReason(), st.Message())
	if raw := info.GetMetadata()[extraKey]; raw != "" {
		f.Extra = decodeExtra(raw)
	}
	return f
}

func errorInfo(st *status.Status) *errdetails.ErrorInfo {
	for _, d := range st.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok && info.GetDomain() == domain {
			return info
		}
	}
	return nil
}

// decodeExtra decodes the extra members of a fault. Whole numbers become int64, so that retryAfterMs does not become a
// float. It returns nil for invalid JSON.
func decodeExtra(raw string) map[string]any {
	d := json.NewDecoder(bytes.NewReader([]byte(raw)))
	d.UseNumber()
	var extra map[string]any
	if d.Decode(&extra) != nil {
		return nil
	}
	for member, value := range extra {
		extra[member] = withIntegers(value)
	}
	return extra
}

func withIntegers(value any) any {
	switch v := value.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = withIntegers(v[i])
		}
	case map[string]any:
		for member := range v {
			v[member] = withIntegers(v[member])
		}
	}
	return value
}
