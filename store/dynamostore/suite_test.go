package dynamostore_test

import (
	"testing"

	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

func BenchmarkTable_DynamoDBLocal(b *testing.B) { storetest.Bench(b, onLocal) }

func TestTable_DynamoDBLocal(t *testing.T) {
	t.Parallel()
	storetest.Run(t, onLocal)
}

func TestScan_MoreThan10000_S26_S81_H05(t *testing.T) {
	t.Parallel()
	storetest.RunMany(t, onLocal)
}

func TestTable_Moto(t *testing.T) {
	if testing.Short() {
		t.Skip("the same on a slower stand-in: make check runs it")
	}
	t.Parallel()
	storetest.Run(t, onMoto)
}

// onLocal opens a table of DynamoDB Local, with its notifications on moto.
func onLocal(t testing.TB) store.Table { return fresh(t, local(t, nil)) }

func TestTable_MiniStack(t *testing.T) {
	if testing.Short() {
		t.Skip("the same on another stand-in: make check runs it")
	}
	t.Parallel()
	storetest.Run(t, func(t testing.TB) store.Table {
		endpoint := awstest.MiniStack(t)
		return fresh(t, config(t, endpoint, endpoint, nil))
	})
}

func onMoto(t testing.TB) store.Table { return fresh(t, moto(t)) }
