package com.example

import com.mongodb.kotlin.client.coroutine.MongoClient
import dev.onehop.routing.OneHop
import dev.onehop.testbed.junit.ShardedCluster
import dev.onehop.testbed.junit.SharedCluster
import io.micrometer.core.instrument.simple.SimpleMeterRegistry
import java.time.Duration
import kotlinx.coroutines.runBlocking
import org.bson.BsonDocument
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

@ShardedCluster
class OrdersTest {
  @Test
  fun operationsGoToTheShardThatOwnsTheOrder(cluster: SharedCluster) {
    cluster.shardCollection(
      "orders",
      BsonDocument.parse("{customer: 1}"),
      listOf(BsonDocument.parse("{customer: 'h'}"), BsonDocument.parse("{customer: 'q'}")),
    )
    val meters = SimpleMeterRegistry()
    OneHop.builder(cluster.url()).meterRegistry(meters).build().use { router ->
      val status = router.ready(Duration.ofSeconds(20), cluster.database() + ".orders")
      assertTrue(status.isReady, status.toString())
      MongoClient.create(router.clientSettings()).use { client ->
        val orders = Orders(client, cluster.database())
        runBlocking {
          orders.place("ada", 10)
          orders.place("zoe", 20)
          assertEquals(20, orders.of("zoe")?.getInteger("amount"))
        }
      }
    }
    val routed = meters.get("onehop.operations").tag("decision", "owner").timers()
    assertEquals(3, routed.sumOf { it.count() })
  }
}
