package com.example;

import java.util.List;
import java.util.UUID;
import org.springframework.data.mongodb.repository.MongoRepository;

interface OrderRepository extends MongoRepository<Order, UUID> {
  List<Order> findByCustomer(String customer);
}
