package com.example;

import java.util.UUID;
import org.springframework.data.annotation.Id;
import org.springframework.data.mongodb.core.mapping.Document;

/** An order in a collection that is sharded by customer. */
@Document("orders")
record Order(@Id UUID id, String customer, int amount) {
  static Order of(String customer, int amount) {
    return new Order(UUID.randomUUID(), customer, amount);
  }
}
