module github.com/signalcast/signalcast/cmd/signalcast

go 1.26.0

require (
	github.com/alecthomas/kong v1.17.0
	github.com/google/uuid v1.6.0
	github.com/signalcast/signalcast/pkg v0.0.0
	github.com/signalcast/signalcast/sdk/go v0.0.0
	golang.org/x/mod v0.42.0
)

require (
	github.com/apapsch/go-jsonmerge/v2 v2.0.0 // indirect
	github.com/oapi-codegen/runtime v1.8.0 // indirect
)

replace github.com/signalcast/signalcast/pkg => ../../pkg

replace github.com/signalcast/signalcast/sdk/go => ../../sdk/go
