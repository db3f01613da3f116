package deps
import (
	_ "google.golang.org/grpc"
	_ "google.golang.org/protobuf/proto"
	_ "google.golang.org/protobuf/types/known/timestamppb"
	_ "google.golang.org/protobuf/types/known/structpb"
)
