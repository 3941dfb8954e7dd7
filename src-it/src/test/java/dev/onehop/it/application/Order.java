package dev.onehop.it.application;

import java.util.List;
import org.springframework.data.annotation.Id;
import org.springframework.data.mongodb.core.index.Indexed;
import org.springframework.data.mongodb.core.mapping.Document;
import org.springframework.data.mongodb.core.mapping.Sharded;

/** An entity of a sharded collection, as an application defines it. */
@Document("orders")
@Sharded(shardKey = "customer", immutableKey = true)
record Order(@Id String id, String customer, @Indexed int total, List<String> items) {

  Order withTotal(int newTotal) {
    return new Order(id, customer, newTotal, items);
  }
}
