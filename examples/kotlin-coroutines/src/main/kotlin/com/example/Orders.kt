package com.example

import com.mongodb.client.model.Filters
import com.mongodb.kotlin.client.coroutine.MongoClient
import dev.onehop.routing.OneHop
import kotlinx.coroutines.flow.firstOrNull
import kotlinx.coroutines.runBlocking
import org.bson.Document

/** Orders in a collection that is sharded by customer. */
class Orders(client: MongoClient, database: String) {
  private val collection = client.getDatabase(database).getCollection<Document>("orders")

  suspend fun place(customer: String, amount: Int) {
    collection.insertOne(Document("customer", customer).append("amount", amount))
  }

  /** Finds one order. The filter has the shard key, so the query goes to one shard. */
  suspend fun of(customer: String): Document? =
    collection.find(Filters.eq("customer", customer)).firstOrNull()
}

/** The argument is the connection string of the cluster's mongoses. */
fun main(args: Array<String>) {
  OneHop.builder(args[0]).build().use { router ->
    MongoClient.create(router.clientSettings()).use { client ->
      val orders = Orders(client, "shop")
      runBlocking {
        orders.place("ada", 10)
        println(orders.of("ada")?.toJson())
      }
    }
  }
}
