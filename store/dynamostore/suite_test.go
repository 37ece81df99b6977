package dynamostore_test

import (
	"testing"

	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

func TestTable_DynamoDBLocal(t *testing.T)      { storetest.Run(t, onLocal) }
func TestTable_Moto(t *testing.T)               { storetest.Run(t, onMoto) }
func BenchmarkTable_DynamoDBLocal(b *testing.B) { storetest.Bench(b, onLocal) }

// onLocal opens a table of DynamoDB Local, with its rings on moto.
func onLocal(t testing.TB) store.Table { return fresh(t, local(t, nil)) }

func onMoto(t testing.TB) store.Table { return fresh(t, moto(t)) }
