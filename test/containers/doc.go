// Package containers runs tests of the repository with Postgres and Redis in containers: the tests of the packages that use a
// database, and a short end-to-end run on a whole system. It starts the containers with testcontainers-go on the engine that
// DOCKER_HOST names, or on the default one, and runs `go test` with their addresses in TEST_DATABASE_URL and TEST_REDIS_URL.
//
//	make container-test
//
// TEST_BACKEND=containers enables the tests. POSTGRES_IMAGE and REDIS_IMAGE replace the official images, as in compose.yaml.
//
// It is a separate module, so that no other module depends on a Docker client.
package containers
