module github.com/signalcast/signalcast/cmd/signalcast

go 1.26.0

require (
	github.com/alecthomas/kong v1.17.0
	github.com/coder/websocket v1.8.15
	github.com/getkin/kin-openapi v0.152.0
	github.com/google/uuid v1.6.0
	github.com/gowebpki/jcs v1.0.2
	github.com/natefinch/atomic v1.0.1
	github.com/signalcast/signalcast/pkg v0.0.0
	github.com/signalcast/signalcast/proto v0.0.0
	github.com/signalcast/signalcast/sdk/go v0.0.0
	golang.org/x/mod v0.42.0
	golang.org/x/term v0.46.0
)

require (
	github.com/apapsch/go-jsonmerge/v2 v2.0.0 // indirect
	github.com/go-openapi/jsonpointer v0.22.5 // indirect
	github.com/go-openapi/swag/jsonname v0.25.5 // indirect
	github.com/kr/pretty v0.3.1 // indirect
	github.com/oapi-codegen/runtime v1.8.0 // indirect
	github.com/oasdiff/yaml v0.1.1 // indirect
	github.com/oasdiff/yaml3 v0.0.14 // indirect
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/text v0.42.0 // indirect
)

replace github.com/signalcast/signalcast/pkg => ../../pkg

replace github.com/signalcast/signalcast/proto => ../../proto

replace github.com/signalcast/signalcast/sdk/go => ../../sdk/go
