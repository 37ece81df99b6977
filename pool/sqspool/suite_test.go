package sqspool_test

import (
	"context"
	"testing"

	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/pool/pooltest"
)

func TestPool_Moto(t *testing.T)      { pooltest.Run(t, factory(awstest.Moto)) }
func TestPool_MiniStack(t *testing.T) { pooltest.Run(t, factory(awstest.MiniStack)) }
func TestPool_ElasticMQ(t *testing.T) { pooltest.Run(t, factory(awstest.ElasticMQ)) }

// Not on moto: for each message received it copies all that the queue holds (of 300, ten take 0.9 s).
func BenchmarkPool(b *testing.B) { pooltest.Bench(b, factory(awstest.ElasticMQ)) }

func factory(start func(testing.TB) string) pooltest.Factory {
	return func(tb testing.TB) pooltest.Open {
		s := connect(tb, start)
		return func(context.Context) (pool.Pool, error) { return s.open(tb, nil), nil }
	}
}
